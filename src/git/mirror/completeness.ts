import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import { linesOf, query } from "../run/query.ts";
import { type Mirror, markComplete } from "./mirror.ts";

/** Whether commits are in the mirror with everything reachable from them. */
export async function holds(engine: Engine, mirror: Mirror, commits: readonly string[]): Promise<boolean> {
  const unsure = commits.filter((commit) => !mirror.complete.has(commit));
  if (unsure.length === 0) return true;
  const found = await Promise.all(unsure.map((commit) => isCommit(mirror, commit)));
  if (found.includes(false)) return false;
  if (!(await reachesAll(engine, mirror, unsure))) return false;
  markComplete(mirror, unsure);
  return true;
}

/** Whether every one of these commits is the tip of a branch of the mirror. */
export async function names(engine: Engine, mirror: Mirror, commits: readonly string[]): Promise<boolean> {
  const named = new Set(await tips(engine, mirror));
  return named.size === 0 || commits.every((commit) => named.has(commit));
}

/** The tips of the mirror's branches; none when git failed. */
export async function tips(engine: Engine, mirror: Mirror): Promise<string[]> {
  const result = await engine.runner.run({
    args: ["for-each-ref", "--format=%(objectname)", "refs/heads"],
    environment: mirror.environment,
    deadlineMs: engine.limits.mergeMs,
    outputBytes: engine.limits.outputBytes,
  });
  return result.code === 0 ? linesOf(result) : [];
}

async function isCommit(mirror: Mirror, commit: string): Promise<boolean> {
  const info = await mirror.objects.info(commit).catch(() => null);
  return info?.type === "commit";
}

/** An interrupted fetch can leave a commit without its history; history of branches was checked by the fetch. */
async function reachesAll(engine: Engine, mirror: Mirror, commits: readonly string[]): Promise<boolean> {
  const result = await engine.checks(mirror.id, () =>
    query(engine, mirror, ["rev-list", "--objects", "--quiet", "--stdin", "--not", "--all"], {
      stdin: `${commits.join("\n")}\n`,
    }),
  );
  // a git that died gives no result
  if (result.stopped || result.code === null) throw engineFailure(engine, "checking the repository", result);
  return result.code === 0;
}
