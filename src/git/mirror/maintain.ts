import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../run/engine.ts";
import { redact } from "../run/redact.ts";
import { type Mirror, markIncomplete } from "./mirror.ts";

/** The most packs of a mirror before small ones are combined: every object lookup searches each pack. */
export const PACKS_MAX = 16;
const REPACK_MS = 120_000;
/** Once a day after a write: removes unreachable objects and writes a reachability bitmap. */
const WHOLE_EVERY_MS = 24 * 3_600_000;
const WHOLE_MS = 30 * 60_000;
/** As in git's default: objects that are being pushed, merged or read are newer. */
const UNREACHABLE_KEPT = "2.weeks.ago";
/** Its age is the time of the last whole repack. */
const MARK = "svc-maintained";

/** Maintains a repository after a write. Cheap unless a repack is due. */
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

/** Combines small packs when there are many; large old ones stay, so that it is cheap. */
async function repackWhenMany(engine: Engine, mirror: Mirror): Promise<void> {
  const names = await readdir(packsOf(mirror)).catch(() => []);
  if (names.filter((name) => name.endsWith(".pack")).length <= PACKS_MAX) return;
  const args = ["repack", "--quiet", "-d", "--geometric=2", "--no-write-bitmap-index"];
  await run(engine, mirror, args, REPACK_MS);
}

/** Writes one file with all refs, one pack with reachable objects, and one with the rest until it expires. */
async function repackWhole(engine: Engine, mirror: Mirror): Promise<void> {
  await writeFile(join(mirror.directory, MARK), "");
  await run(engine, mirror, ["pack-refs", "--all"], REPACK_MS);
  // first: git assumes that commits of the graph exist, even one that is about to be removed
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

/** @returns whether it succeeded; if not, it is due again tomorrow */
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
  // git also reports a failure when only one of its children was killed
  if (code !== 0) mirror.unclean = true;
  if (code !== 0 && stopped !== "closing") {
    const words = redact(stderr, [], Object.values(engine.directories));
    engine.log.warn({ repo: mirror.id, git: args[0], stopped, words }, "maintaining a repository failed");
  }
  return code === 0;
}
