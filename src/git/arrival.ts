import { isAncestorOf } from "./compare.ts";
import type { Engine } from "./engine.ts";
import { engineFailure } from "./failure.ts";
import type { Arrival, ArrivalRequest } from "./git.ts";
import type { Mirror } from "./mirror.ts";

/**
 * Which of `heads` are `base` or among its ancestors.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function reachedFrom(
  engine: Engine,
  mirror: Mirror,
  base: string,
  heads: readonly string[],
): Promise<string[]> {
  const missing = new Set(await list(engine, mirror, [...heads, `^${base}`], []));
  return heads.filter((head) => !missing.has(head));
}

/**
 * How `head` came into a branch that was at `since` and is at `base` now.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function findArrival(
  engine: Engine,
  mirror: Mirror,
  { base, head, since }: ArrivalRequest,
): Promise<Arrival | null> {
  const isIn = (commit: string) => isAncestorOf(engine, mirror, head, commit);
  if ((await isIn(since)) || !(await isIn(base))) return null;
  // the branch's own line, the newest first: once a commit has the head, all later ones do
  const shape = ["--first-parent", "--no-commit-header", "--format=%H %P"];
  const line = await list(engine, mirror, [base, `^${head}`, `^${since}`], shape);
  let [having, lacking] = [-1, line.length];
  while (lacking - having > 1) {
    const middle = Math.floor((having + lacking) / 2);
    if (await isIn(line[middle]?.split(" ")[0] ?? "")) having = middle;
    else lacking = middle;
  }
  const [commit, before] = line[having]?.split(" ") ?? [];
  if (commit === undefined || before === undefined || before === head) return { commit: head, base: since };
  return { commit, base: before };
}

async function list(
  engine: Engine,
  mirror: Mirror,
  commits: readonly string[],
  shape: readonly string[],
): Promise<string[]> {
  const result = await engine.runner.run({
    args: ["rev-list", ...shape, "--stdin"],
    environment: mirror.environment,
    stdin: `${commits.join("\n")}\n`,
    deadlineMs: engine.limits.mergeMs,
    memory: engine.limits.mergeMemory,
    outputBytes: engine.limits.outputBytes,
  });
  if (result.code !== 0) throw engineFailure(engine, "listing commits", result);
  return new TextDecoder().decode(result.stdout).split("\n").filter(Boolean);
}
