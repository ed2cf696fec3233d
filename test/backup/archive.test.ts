import { expect, test } from "bun:test";
import { BackupError, CHUNK_BYTES, DamagedError } from "../../src/backup/format.ts";
import { collect, readArchive } from "../../src/backup/read-archive.ts";
import { writeArchive } from "../../src/backup/write-archive.ts";
import { streamOf } from "../../src/sandboxes/tar.ts";
import { fc } from "../helpers/property.ts";

const PARTS: Record<string, string> = {
  "svc-backup.json": "{}",
  "database/public.users.jsonl": "a\n".repeat(3000),
  "repositories/x.git/pack": "",
  "checks.txt": "x".repeat(CHUNK_BYTES + 17),
};

const WHOLE = await bytesOf(
  writeArchive(async (add) => {
    for (const [name, text] of Object.entries(PARTS)) await add(name, [text]);
  }),
);

test("an archive is read as it was written, whatever the pieces", async () => {
  for (const size of [511, 4096, WHOLE.length]) {
    const found: Record<string, string> = {};
    await readArchive(pieces(WHOLE, size), async (name, content) => {
      found[name] = Buffer.from(await collect(name, content)).toString();
    });
    expect(found).toEqual(PARTS);
  }
});

test("an archive cut anywhere is refused", async () => {
  const isEnd = WHOLE.length - 1024;
  const moments = fc.oneof(
    fc.integer({ min: 0, max: isEnd - 1 }),
    fc.integer({ min: 0, max: isEnd / 512 - 1 }).map((block) => block * 512),
  );
  await fc.assert(
    fc.asyncProperty(moments, async (length) => {
      await expect(readArchive(pieces(WHOLE.subarray(0, length), 65_536), ignore)).rejects.toBeInstanceOf(
        DamagedError,
      );
    }),
    { numRuns: 60 },
  );
});

test("a changed byte of any part is found, and names the part", async () => {
  const at = WHOLE.indexOf("x".repeat(100)) + 50_000;
  const changed = Buffer.from(WHOLE);
  changed[at] = 0x79;
  await expect(readArchive(pieces(changed, 65_536), ignore)).rejects.toThrow('"checks.txt"');
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: WHOLE.length - 1025 }), async (offset) => {
      const other = Buffer.from(WHOLE);
      other[offset] = (other[offset] ?? 0) ^ 0x10;
      const read: string[] = [];
      const whole: Record<string, string> = {};
      const outcome = await readArchive(pieces(other, 65_536), async (name, content) => {
        read.push(name);
        whole[name] = Buffer.from(await collect(name, content)).toString();
      }).then(
        () => "read",
        (error: unknown) => (error instanceof BackupError ? "refused" : String(error)),
      );
      // padding, and the header's fields that nobody reads, may change
      if (outcome === "read") expect(whole).toEqual(PARTS);
      else expect(outcome).toBe("refused");
    }),
    { numRuns: 60 },
  );
});

test("entries that svc never writes are refused", async () => {
  const { pack } = await import("tar-stream");
  const hostile = [
    { name: "../evil/00000001" },
    { name: "/etc/passwd/00000001" },
    { name: "a/../../b/00000001" },
    { name: ".git/config/00000001" },
    { name: "a/00000002" },
    { name: "a" },
    { name: "a/00000001", type: "symlink" as const, linkname: "/etc/passwd" },
    { name: "a/00000001", type: "link" as const, linkname: "b" },
    { name: "a/00000001", type: "directory" as const },
    { name: "a/00000001", type: "character-device" as const },
  ];
  for (const header of hostile) {
    const tar = pack();
    tar.entry(header);
    tar.finalize();
    const taken: string[] = [];
    const reading = readArchive(streamOf(tar), async (name) => void taken.push(name));
    await expect(reading).rejects.toBeInstanceOf(DamagedError);
    expect(taken).toEqual([]);
  }
});

test("a failure of the source or the composer is reported as it is", async () => {
  const failing = (async function* () {
    yield WHOLE.subarray(0, 2000);
    throw new Error("the disk is gone");
  })();
  await expect(readArchive(failing, ignore)).rejects.toThrow("the disk is gone");
  const written = writeArchive(async (add) => {
    await add("a", ["1"]);
    throw new Error("the database is gone");
  });
  await expect(bytesOf(written)).rejects.toThrow("the database is gone");
});

async function ignore(): Promise<void> {}

async function bytesOf(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(source));
}

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
