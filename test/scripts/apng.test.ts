import { expect, test } from "bun:test";
import { crc32, deflateSync } from "node:zlib";
import { animate, readChunks } from "../../scripts/apng.ts";

/** A grey picture, whose pixels are in two chunks. */
function png(width: number, grey: number): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(1, 4);
  header[8] = 8;
  const pixels = deflateSync(Buffer.from([0, ...Array.from({ length: width }, () => grey)]));
  const chunk = (type: string, data: Uint8Array) => {
    const typed = Buffer.concat([Buffer.from(type), data]);
    return Buffer.concat([number(data.length), typed, number(crc32(typed))]);
  };
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    ...[chunk("IHDR", header), chunk("IDAT", pixels.subarray(0, 3)), chunk("IDAT", pixels.subarray(3))],
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

test("a moving picture has each frame's pixels, in numbered chunks with right checksums", () => {
  const [one, two] = [png(3, 10), png(3, 200)];
  const bytes = Buffer.from(
    animate([
      { png: one, ms: 1500 },
      { png: two, ms: 20 },
    ]),
  );
  const chunks = readChunks(bytes).map(({ type, data }) => ({ type, data: Buffer.from(data) }));
  const types = chunks.map(({ type }) => type).join(" ");
  expect(types).toBe("IHDR acTL fcTL IDAT IDAT fcTL fdAT fdAT IEND");
  expect(chunks[1]?.data.toString("hex")).toBe("0000000200000000");
  const numbered = chunks.filter(({ type }) => type === "fcTL" || type === "fdAT");
  expect(numbered.map(({ data }) => data.readUInt32BE(0))).toEqual([0, 1, 2, 3]);
  const controls = chunks.filter(({ type }) => type === "fcTL").map(({ data }) => data);
  expect(
    controls.map((data) => [data.readUInt32BE(4), data.readUInt16BE(20), data.readUInt16BE(22)]),
  ).toEqual([
    [3, 1500, 1000],
    [3, 20, 1000],
  ]);
  const pixelsOf = (type: string, from: number) =>
    Buffer.concat(chunks.filter((chunk) => chunk.type === type).map(({ data }) => data.subarray(from)));
  const still = (whole: Uint8Array) =>
    Buffer.concat(readChunks(whole).flatMap(({ type, data }) => (type === "IDAT" ? [data] : [])));
  expect(pixelsOf("IDAT", 0)).toEqual(still(one));
  expect(pixelsOf("fdAT", 4)).toEqual(still(two));
  for (let at = 8; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    expect(bytes.readUInt32BE(end)).toBe(crc32(bytes.subarray(at + 4, end)));
    at = end + 4;
  }
});

test("frames of different sizes, none, and other files are refused", () => {
  const frames = [png(3, 1), png(4, 1)].map((each) => ({ png: each, ms: 1 }));
  expect(() => animate(frames)).toThrow("frame 1 has another size");
  expect(() => animate([])).toThrow("no frames");
  expect(() => animate([{ png: Buffer.from("GIF89a"), ms: 1 }])).toThrow("not a PNG");
});
