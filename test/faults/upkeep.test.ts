import { afterAll, beforeAll, expect } from "bun:test";
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { PACKS_MAX } from "../../src/git/mirror/maintain.ts";
import { type GatewayBench, refsOf, runClient, scratch, startGateway } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { share } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);

const WRITERS = 3;
/** They go on until the repository has been repacked so many times, too. */
const [PUSHES_EACH, REPACKS] = [share(3, 40), 3];
const READERS = share(1, 2);

let bench: GatewayBench;
beforeAll(async () => {
  if (POSTGRES) bench = await startGateway();
});
afterAll(() => bench?.stop());

test("pushes and clones succeed while the repository is repacked, fully and incrementally", async () => {
  const { hosted, api } = bench;
  const url = bench.url(hosted, api.token);
  using work = scratch();
  await git(work.path, "init", "--quiet", "-b", "main");
  await git(work.path, "commit", "--quiet", "--allow-empty", "-m", "first");
  await git(work.path, "push", "--quiet", url, "main");

  let writing = true;
  let repacks = 0;
  const expected = new Map<string, string>();
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    const folder = join(work.path, `writer-${writer}`);
    await git(work.path, "clone", "--quiet", url, folder);
    for (let push = 0; push < PUSHES_EACH || repacks < REPACKS; push++) {
      await git(folder, "commit", "--quiet", "--allow-empty", "-m", `${writer} ${push}`);
      await git(folder, "push", "--quiet", "origin", `HEAD:refs/heads/w${writer}`);
      // the old commits become unreachable
      await git(folder, "push", "--quiet", "--force", "origin", `HEAD~1:refs/heads/old${writer}`);
    }
    expected.set(`refs/heads/w${writer}`, await git(folder, "rev-parse", "HEAD"));
  });
  const readers = Array.from({ length: READERS }, async (_, reader) => {
    for (let clone = 0; writing; clone++) {
      const folder = join(work.path, `clone-${reader}-${clone}`);
      await git(work.path, "clone", "--quiet", "--bare", url, folder);
      await git(folder, "fsck", "--connectivity-only");
    }
  });
  const clock = (async () => {
    for (; writing; repacks += Number(await makeDue(hosted.directory))) await Bun.sleep(100);
  })();
  await Promise.all(writers).finally(() => {
    writing = false;
  });
  await Promise.all([...readers, clock]);

  const refs = await refsOf(hosted.directory);
  for (const [ref, commit] of expected) expect(refs[ref]).toBe(commit);
  await git(hosted.directory, "fsck", "--full", "--strict");
  await git(work.path, "push", "--quiet", url, "main:last");
  await until("few packs are left", async () => (await packs(hosted.directory)) <= PACKS_MAX + 1);
});

/** Makes the repository due for a whole repack. False when nothing was repacked since the last time. */
async function makeDue(directory: string): Promise<boolean> {
  const mark = join(directory, "svc-maintained");
  const age = await Bun.file(mark)
    .stat()
    .then((file) => Date.now() - file.mtimeMs)
    .catch(() => null);
  if (age === null || age > 24 * 3_600_000) return false;
  const longAgo = Date.now() / 1000 - 48 * 3600;
  await utimes(mark, longAgo, longAgo);
  return true;
}

async function packs(directory: string): Promise<number> {
  return (await readdir(join(directory, "objects/pack"))).filter((name) => name.endsWith(".pack")).length;
}

async function git(directory: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await runClient(directory, ...args);
  if (code !== 0) throw new Error(`git ${args.join(" ")}: ${err}`);
  return out.trim();
}
