import { SvcError } from "../contract/errors.ts";
import type { Engine } from "./engine.ts";
import { engineFailure, MirrorDamaged } from "./failure.ts";
import type { Mirror } from "./mirror.ts";

export interface BytesRequest {
  type: "blob" | "commit";
  id: string;
  /** Gets the bytes in order; when it answers false, git is stopped. */
  onBytes(bytes: Uint8Array): boolean | Promise<boolean>;
  /** Milliseconds that git itself may take. */
  deadlineMs: number;
  /** Milliseconds by the wall clock, with a slow reader. */
  wallMs?: number;
  signal?: AbortSignal;
}

/**
 * Hands on the bytes of an object while a git of its own unpacks them: for what is too large for the one `cat-file`
 * that everybody shares.
 * @throws SvcError `merge_engine_failed`; MirrorDamaged, when nothing was handed on yet
 */
export async function readObjectBytes(engine: Engine, mirror: Mirror, request: BytesRequest): Promise<void> {
  let began = false;
  let enough = false;
  const result = await engine.runner.run({
    args: ["-c", `core.bigFileThreshold=${STREAMED_BYTES}`, "cat-file", request.type, request.id],
    environment: mirror.environment,
    deadlineMs: request.deadlineMs,
    ...(request.wallMs === undefined ? {} : { wallMs: request.wallMs }),
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
  const failure = engineFailure(engine, "reading a file", result);
  // the mirror would be made anew and the reader get the beginning twice
  throw began && failure instanceof MirrorDamaged ? failure.failure : failure;
}

/** From this size on git unpacks a file piece by piece, unless it is stored as a delta; smaller ones it holds whole. */
const STREAMED_BYTES = 1024 * 1024;
