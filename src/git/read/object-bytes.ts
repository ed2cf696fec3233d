import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { type OutputRequest, streamOutput } from "../run/stream-output.ts";

export interface BytesRequest extends Omit<OutputRequest, "args" | "doing"> {
  type: "blob" | "commit";
  id: string;
}

/**
 * Streams an object from a git process of its own: for objects that are too large for the shared `cat-file`.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect, when nothing was passed on yet
 */
export async function readObjectBytes(
  engine: Engine,
  mirror: Mirror,
  { type, id, ...request }: BytesRequest,
): Promise<void> {
  await streamOutput(engine, mirror, {
    ...request,
    args: ["-c", `core.bigFileThreshold=${STREAMED_BYTES}`, "cat-file", type, id],
    doing: "reading a file",
  });
}

/** From this size git streams a file unless it is stored as a delta; it holds smaller ones in memory. */
const STREAMED_BYTES = 1024 * 1024;
