import { SvcError } from "../contract/errors.ts";
import type { Engine } from "./engine.ts";
import { engineFailure, MirrorDamaged } from "./failure.ts";
import type { ArchiveRequest } from "./git.ts";
import type { Mirror } from "./mirror.ts";

/**
 * Hands on a directory of a commit as a tar, with paths that begin in it.
 * @throws SvcError `merge_engine_failed`; MirrorDamaged, when nothing was handed on yet
 */
export async function archive(engine: Engine, mirror: Mirror, request: ArchiveRequest): Promise<void> {
  let began = false;
  let enough = false;
  const result = await engine.runner.run({
    args: ["archive", "--format=tar", request.tree],
    environment: mirror.environment,
    deadlineMs: engine.limits.diffMs,
    wallMs: engine.limits.diffWallMs,
    memory: engine.limits.mergeMemory,
    ...(request.signal ? { signal: request.signal } : {}),
    async onStdout(chunk) {
      began = true;
      enough = !(await request.onBytes(chunk));
      return !enough;
    },
  });
  if (enough) return;
  if (result.stopped === "caller") throw new SvcError("merge_engine_failed", "The reading was cancelled.");
  if (result.code === 0 && !result.stopped) return;
  const failure = engineFailure(engine, "packing a directory", result);
  throw began && failure instanceof MirrorDamaged ? failure.failure : failure;
}
