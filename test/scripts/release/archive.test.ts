import { expect, test } from "bun:test";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import lzma from "lzma-native";
import { extract } from "tar-stream";
import { type ArchiveFile, gzip, tar, xz } from "../../../scripts/release/archive.ts";
import { storeAsXz } from "../../../scripts/release/xz-stored.ts";
import { needs } from "../../helpers/needs.ts";

const FILES: readonly ArchiveFile[] = [
  { name: "svc-agent", isProgram: true, bytes: Buffer.from("a program") },
  { name: "svc-entrypoint", isProgram: true, linkTo: "svc-agent" },
  { name: "LICENSE", isProgram: false, bytes: Buffer.from("a license\n") },
];

test("a tar has no times and no owners", async () => {
  const files = extract();
  files.end(await tar(FILES));
  const found: unknown[] = [];
  for await (const file of files) {
    const { name, mode, mtime, uid, gid, uname, gname, type, linkname } = file.header;
    const text = (await buffer(file)).toString();
    found.push([name, mode, mtime?.getTime(), uid, gid, uname, gname, type, linkname, text]);
  }
  expect(found).toEqual([
    ["svc-agent", 0o755, 0, 0, 0, "", "", "file", null, "a program"],
    ["svc-entrypoint", 0o755, 0, 0, 0, "", "", "link", "svc-agent", ""],
    ["LICENSE", 0o644, 0, 0, 0, "", "", "file", null, "a license\n"],
  ]);
});

test("equal files give equal archives, other files others", async () => {
  const [one, two] = [await tar(FILES), await tar(FILES)];
  expect(one).toEqual(two);
  expect(await tar(FILES.toReversed())).not.toEqual(one);
  expect(gzip(one)).toEqual(gzip(two));
  // RFC 1952: no name, no time, an unknown system
  expect([...gzip(one).subarray(3, 10)]).toEqual([0, 0, 0, 0, 0, 2, 255]);
  expect(gunzipSync(gzip(one)).equals(one)).toBe(true);
});

const unxz = (bytes: Buffer) => {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  lzma.decompress(bytes, resolve);
  return promise;
};

test("xz is read by the standard decoder, from the cache as the first time", async () => {
  const bytes = Buffer.from(`unique for this run: ${process.pid} ${performance.now()}`.repeat(100));
  const first = await xz(bytes);
  expect(await xz(bytes)).toEqual(first);
  expect(first.length).toBeLessThan(bytes.length);
  expect(await unxz(first)).toEqual(bytes);
});

test.each([0, 1, 2, 3, 4, 127, 128, 65_535, 65_536, 65_537, 200_000])(
  "%d bytes that are not compressed are read by the standard decoder, too",
  async (size) => {
    const bytes = Buffer.from(Array.from({ length: size }, (_, i) => (i * 7) % 251));
    expect(await unxz(storeAsXz(bytes))).toEqual(bytes);
  },
);

needs("xz", Bun.which("xz") !== null)("and by the xz command", async () => {
  const file = Buffer.from(storeAsXz(Buffer.alloc(200_000, "svc")));
  expect(await Bun.spawn(["xz", "--test", "-"], { stdin: file }).exited).toBe(0);
});
