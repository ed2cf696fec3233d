import type { ArchiveRequest } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { streamOutput } from "../run/stream-output.ts";

/**
 * Streams a directory of a commit as a tar, with paths relative to it.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect, when nothing was passed on yet
 */
export async function archive(engine: Engine, mirror: Mirror, request: ArchiveRequest): Promise<void> {
  const { tree, onBytes, signal } = request;
  await streamOutput(engine, mirror, {
    args: ["archive", "--format=tar", tree],
    doing: "packing a directory",
    onBytes,
    deadlineMs: engine.limits.diffMs,
    wallMs: engine.limits.diffWallMs,
    ...(signal ? { signal } : {}),
  });
}
