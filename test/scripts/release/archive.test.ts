import { expect, test } from "bun:test";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import lzma from "lzma-native";
import { extract } from "tar-stream";
import { type ArchiveFile, type Compression, gzip, tar, xz } from "../../../scripts/release/archive.ts";
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

const COMPRESSIONS: readonly Compression[] = ["common", "x64", "arm64"];

test.each(COMPRESSIONS)(
  "xz for %s code is read by the standard decoder, from the cache as the first time",
  async (code) => {
    const bytes = Buffer.from(`unique for this run: ${process.pid} ${performance.now()}`.repeat(100));
    const first = await xz(bytes, code);
    expect(await xz(bytes, code)).toEqual(first);
    expect(first.length).toBeLessThan(bytes.length);
    expect(await unxz(first)).toEqual(bytes);
  },
);

// calls from many places to one function: the filter for x86 makes them equal
test("the filters are those of the code", async () => {
  const code = Buffer.alloc(500_000, 0x90);
  for (let at = 0; at < code.length; at += 50) {
    code[at] = 0xe8;
    code.writeInt32LE(1_000_000 - at, at + 1);
  }
  const [common, x64, arm64] = await Promise.all(COMPRESSIONS.map((each) => xz(code, each)));
  expect(x64?.length).toBeLessThan((common?.length ?? 0) / 4);
  expect(arm64).not.toEqual(common);
});

needs("python3", Bun.which("python3") !== null)("and by python", async () => {
  const read = "import lzma, sys; sys.stdout.buffer.write(lzma.decompress(sys.stdin.buffer.read()))";
  for (const each of COMPRESSIONS) {
    const child = Bun.spawn(["python3", "-c", read], { stdin: await xz(Buffer.from("a program"), each) });
    expect(await new Response(child.stdout).text()).toBe("a program");
  }
});

needs("busybox", Bun.which("busybox") !== null)(
  "busybox reads what the command line's archives use",
  async () => {
    const child = Bun.spawn(["busybox", "xz", "-dc"], {
      stdin: await xz(Buffer.from("a program"), "common"),
    });
    expect(await new Response(child.stdout).text()).toBe("a program");
  },
);

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
