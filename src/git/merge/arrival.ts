import type { Arrival, ArrivalRequest } from "../git.ts";
import { holds } from "../mirror/completeness.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import { linesOf, query } from "../run/query.ts";
import { isAncestorOf } from "./compare.ts";

/**
 * Returns those of `heads` that are `base` or one of its ancestors. Commits that the mirror does not hold are not.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function reachedFrom(
  engine: Engine,
  mirror: Mirror,
  base: string,
  heads: readonly string[],
): Promise<string[]> {
  const held = await heldOf(engine, mirror, [...new Set(heads)]);
  const ahead = new Set(await list(engine, mirror, [...held, `^${base}`], []));
  return held.filter((head) => !ahead.has(head));
}

/** One lookup if all are there, which is the usual case. */
async function heldOf(
  engine: Engine,
  mirror: Mirror,
  commits: readonly string[],
): Promise<readonly string[]> {
  if (await holds(engine, mirror, commits)) return commits;
  const held: string[] = [];
  for (const commit of commits) if (await holds(engine, mirror, [commit])) held.push(commit);
  return held;
}

/**
 * Finds how `head` got into a branch that was at `since` and is at `base` now.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function findArrival(
  engine: Engine,
  mirror: Mirror,
  { base, head, since }: ArrivalRequest,
): Promise<Arrival | null> {
  const isIn = (commit: string) => isAncestorOf(engine, mirror, head, commit);
  if ((await isIn(since)) || !(await isIn(base))) return null;
  // the first parents of the branch, newest first: once a commit contains the head, all later ones do
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
  const stdin = `${commits.join("\n")}\n`;
  const result = await query(engine, mirror, ["rev-list", ...shape, "--stdin"], { stdin });
  if (result.code !== 0) throw engineFailure(engine, "listing commits", result);
  return linesOf(result);
}
