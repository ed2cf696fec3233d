import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";

/**
 * Lists the branches and tags of a mirror with their objects, in git's order.
 * @param own another ref to list, by its full name
 * @returns names in latin1, since they may not be UTF-8
 * @throws SvcError `merge_engine_failed`
 */
export async function listRefs(
  engine: Engine,
  mirror: Mirror,
  own: readonly string[] = [],
): Promise<Map<string, string>> {
  const result = await engine.runner.run({
    args: ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", ...own],
    environment: mirror.environment,
    deadlineMs: engine.limits.mergeMs,
    outputBytes: engine.limits.outputBytes,
  });
  if (result.code !== 0) throw engineFailure(engine, "listing the refs", result);
  const lines = Buffer.from(result.stdout).toString("latin1").split("\n").filter(Boolean);
  return new Map(lines.map((line) => [line.slice(line.indexOf(" ") + 1), line.slice(0, line.indexOf(" "))]));
}
