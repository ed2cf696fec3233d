import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";

/**
 * The commit of a tag, through tags of tags; null when the tag is not found or is not a tag of a commit.
 * @param name checked like a branch name, so that git does not read it as a pattern
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function commitOfTag(engine: Engine, mirror: Mirror, name: string): Promise<string | null> {
  const ref = `refs/tags/${name}`;
  const result = await engine.lookups(mirror.id, () =>
    engine.runner.run({
      args: ["for-each-ref", "--format=%(objectname) %(refname)", ref],
      environment: mirror.environment,
      deadlineMs: engine.limits.listMs,
      outputBytes: engine.limits.outputBytes,
    }),
  );
  if (result.code !== 0) throw engineFailure(engine, "looking for a tag", result);
  const lines = new TextDecoder().decode(result.stdout).split("\n");
  const id = lines.find((line) => line.endsWith(` ${ref}`))?.split(" ")[0];
  const commit = id === undefined ? null : await mirror.objects.info(`${id}^{commit}`);
  return commit?.id ?? null;
}
