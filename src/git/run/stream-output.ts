import { SvcError } from "../../contract/errors.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "./engine.ts";
import { engineFailure, MirrorSuspect } from "./failure.ts";

export interface OutputRequest {
  args: string[];
  /** The operation, for errors: `reading a file`. */
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
 * Streams the output of a git process at the pace of its reader.
 * @throws SvcError `merge_engine_failed`; MirrorSuspect, when nothing was passed on yet
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
  if (result.stopped === "caller") throw new SvcError("merge_engine_failed", "The read was cancelled.");
  if (result.code === 0 && !result.stopped) return;
  const failure = engineFailure(engine, doing, result);
  // a rebuild of the mirror would repeat the beginning
  throw began && failure instanceof MirrorSuspect ? failure.failure : failure;
}
