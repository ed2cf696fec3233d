import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { type OutputRequest, streamOutput } from "../run/stream-output.ts";

export interface BytesRequest extends Omit<OutputRequest, "args" | "doing"> {
  type: "blob" | "commit";
  id: string;
}

/**
 * Hands on the bytes of an object while a git of its own unpacks them: for what is too large for the one `cat-file`
 * that everybody shares.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect, when nothing was handed on yet
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

/** From this size on git unpacks a file piece by piece, unless it is stored as a delta; smaller ones it holds whole. */
const STREAMED_BYTES = 1024 * 1024;
