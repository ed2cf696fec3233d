import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../run/engine.ts";
import { redact } from "../run/redact.ts";
import { type Mirror, markIncomplete } from "./mirror.ts";

/** Packs that a mirror may gather before small ones are put together: each costs a look in every object search. */
export const PACKS_MAX = 16;
const REPACK_MS = 120_000;
/** Once a day, when something was written: unreachable objects go, and reading gets an index of what is reachable. */
const WHOLE_EVERY_MS = 24 * 3_600_000;
const WHOLE_MS = 30 * 60_000;
/** As long as git's own: nothing that is still being pushed, merged or looked at is that old. */
const UNREACHABLE_KEPT = "2.weeks.ago";
/** Its age tells when the last whole repack was. */
const MARK = "svc-maintained";

/** Looks after a repository that was just written. Cheap unless it is due. */
export async function maintain(engine: Engine, mirror: Mirror): Promise<void> {
  if (mirror.maintaining) return;
  mirror.maintaining = true;
  try {
    if (await isWholeDue(mirror)) await repackWhole(engine, mirror);
    else await repackWhenMany(engine, mirror);
  } finally {
    mirror.maintaining = false;
  }
}

/** Puts small packs together when there are many; the large old ones are left alone, so it stays cheap. */
async function repackWhenMany(engine: Engine, mirror: Mirror): Promise<void> {
  const names = await readdir(packsOf(mirror)).catch(() => []);
  if (names.filter((name) => name.endsWith(".pack")).length <= PACKS_MAX) return;
  const args = ["repack", "--quiet", "-d", "--geometric=2", "--no-write-bitmap-index"];
  await run(engine, mirror, args, REPACK_MS);
}

/** One file with all refs, one pack with all that they reach, one with the rest until it is old enough to go. */
async function repackWhole(engine: Engine, mirror: Mirror): Promise<void> {
  await writeFile(join(mirror.directory, MARK), "");
  await run(engine, mirror, ["pack-refs", "--all"], REPACK_MS);
  // first: git takes what the graph holds for there, also a commit that is about to go
  const graph = ["commit-graph", "write", "--reachable", "--no-progress"];
  if (!(await run(engine, mirror, graph, WHOLE_MS))) return;
  const unreachable = ["--cruft", `--cruft-expiration=${UNREACHABLE_KEPT}`];
  await run(
    engine,
    mirror,
    ["repack", "--quiet", "-d", "-l", ...unreachable, "--write-bitmap-index"],
    WHOLE_MS,
  );
  markIncomplete(mirror);
}

async function isWholeDue(mirror: Mirror): Promise<boolean> {
  const path = join(mirror.directory, MARK);
  const mark = await stat(path).catch(() => null);
  if (!mark) {
    await writeFile(path, "");
    return false;
  }
  return Date.now() - mark.mtimeMs > WHOLE_EVERY_MS;
}

function packsOf(mirror: Mirror): string {
  return join(mirror.directory, "objects", "pack");
}

/** @returns whether it worked; if not, it is due again tomorrow */
async function run(engine: Engine, mirror: Mirror, args: string[], deadlineMs: number): Promise<boolean> {
  const { code, stopped, stderr } = await engine.upkeep(mirror.id, () =>
    engine.runner.run({
      args,
      environment: mirror.environment,
      deadlineMs,
      memory: engine.limits.fetchMemory,
      outputBytes: engine.limits.outputBytes,
    }),
  );
  // git says so itself when only what it had started was killed, or found a fault
  if (code !== 0) mirror.unclean = true;
  if (code !== 0 && stopped !== "closing") {
    const words = redact(stderr, [], Object.values(engine.directories));
    engine.log.warn({ repo: mirror.id, git: args[0], stopped, words }, "looking after a repository failed");
  }
  return code === 0;
}
