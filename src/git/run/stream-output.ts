import { SvcError } from "../../contract/errors.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "./engine.ts";
import { engineFailure, MirrorSuspect } from "./failure.ts";

export interface OutputRequest {
  args: string[];
  /** What it is for, in words of an error: `reading a file`. */
  doing: string;
  /** Gets the bytes in order; when it answers false, git is stopped. */
  onBytes(bytes: Uint8Array): boolean | Promise<boolean>;
  /** Milliseconds that git itself may take. */
  deadlineMs: number;
  /** Milliseconds by the wall clock, with a slow reader. */
  wallMs?: number;
  signal?: AbortSignal;
}

/**
 * Hands on what a git process writes, as fast as its reader takes it.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect, when nothing was handed on yet
 */
export async function streamOutput(engine: Engine, mirror: Mirror, request: OutputRequest): Promise<void> {
  const { args, doing, deadlineMs, wallMs, signal } = request;
  let began = false;
  let enough = false;
  const result = await engine.runner.run({
    args,
    environment: mirror.environment,
    deadlineMs,
    ...(wallMs === undefined ? {} : { wallMs }),
    memory: engine.limits.mergeMemory,
    ...(signal ? { signal } : {}),
    async onStdout(chunk) {
      began = true;
      enough = !(await request.onBytes(chunk));
      return !enough;
    },
  });
  if (enough) return;
  if (result.stopped === "caller") throw new SvcError("merge_engine_failed", "The reading was cancelled.");
  if (result.code === 0 && !result.stopped) return;
  const failure = engineFailure(engine, doing, result);
  // the mirror would be rebuilt and the reader get the beginning twice
  throw began && failure instanceof MirrorSuspect ? failure.failure : failure;
}
