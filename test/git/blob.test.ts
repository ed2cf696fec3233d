import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { bytesOf, type Mirrored, mirrored } from "../helpers/mirrored.ts";

const LINE = `${"y".repeat(99)}\n`;

test.each([0, 1, 1024 * 1024, 1024 * 1024 + 1, 5_000_000])(
  "a file of %p bytes is returned completely and in order",
  async (size) => {
    await using place = await mirrored();
    const content = Buffer.alloc(
      size,
      Uint8Array.from({ length: 251 }, (_, at) => at),
    );
    const { tip = "" } = await place.write([{ name: "tip", branch: "main", files: { f: content } }]);
    const parts: Uint8Array[] = [];
    await read(place, tip, (bytes) => parts.push(bytes) > 0);
    expect(Buffer.concat(parts).equals(content)).toBe(true);
  },
);

test("a slow reader applies backpressure to git, in little memory", async () => {
  await using place = await mirrored();
  const { tip = "" } = await place.write([
    { name: "tip", branch: "main", files: { f: LINE.repeat(500_000) } },
  ]);
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  let bytes = 0;
  let pieces = 0;
  let peak = 0;
  await read(place, tip, async (piece) => {
    bytes += piece.length;
    if (++pieces % 50 === 0) {
      await Bun.sleep(1);
      Bun.gc(true);
      peak = Math.max(peak, process.memoryUsage().rss);
    }
    return true;
  });
  expect(bytes).toBe(50_000_000);
  expect(peak - before).toBeLessThan(30_000_000);
});

test("a reader that stops or disconnects ends git", async () => {
  await using place = await mirrored();
  const { tip = "" } = await place.write([
    { name: "tip", branch: "main", files: { f: LINE.repeat(100_000) } },
  ]);
  let calls = 0;
  await read(place, tip, () => ++calls < 2);
  expect(calls).toBe(2);
  const stop = new AbortController();
  const asked = read(
    place,
    tip,
    () => {
      stop.abort();
      return true;
    },
    stop.signal,
  );
  expect(asked).rejects.toMatchObject({ code: "merge_engine_failed" });
  await asked.catch(() => {});
  expect(processesWith(await place.upstream.git("rev-parse", `${tip}:f`))).toEqual([]);
});

test("a slow reader of a large file blocks neither small files nor histories", async () => {
  await using place = await mirrored({ git: { limits: { heavyPerRepository: 1 } } });
  const files = { f: LINE.repeat(100_000), small: "1\n" };
  const { tip = "" } = await place.write([{ name: "tip", branch: "main", files }]);
  const { promise: released, resolve: release } = Promise.withResolvers<boolean>();
  const slow = read(place, tip, () => released);
  const page = { commit: tip, path: bytesOf(""), skip: 0, limit: 10 };
  expect((await place.git.listDirectory(place.repo, page))?.entries).toHaveLength(2);
  expect((await place.git.log(place.repo, page)).commits).toHaveLength(1);
  const small = await place.git.readFile(place.repo, tip, "small", 10);
  expect(Buffer.from(small ?? []).toString()).toBe("1\n");
  release(true);
  await slow;
});

async function read(
  { git, repo }: Mirrored,
  commit: string,
  onBytes: (bytes: Uint8Array) => boolean | Promise<boolean>,
  signal?: AbortSignal,
): Promise<void> {
  const entry = await git.findEntry(repo, commit, bytesOf("f"));
  if (!entry) throw new Error("no entry");
  await git.readBlob(repo, { commit, entry, onBytes, ...(signal ? { signal } : {}) });
}

/** Processes of this machine that have a word in their command line. */
function processesWith(word: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
    } catch {
      return false;
    }
  });
}
