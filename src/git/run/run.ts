import type { Subprocess } from "bun";
import { within } from "../../lib/within.ts";
import { collectAfter } from "./garbage.ts";
import type { Log } from "./options.ts";
import { type Limit, watch } from "./watch.ts";
import { writeAll } from "./write-all.ts";

interface RunRequest {
  /** What follows `git`; text from users is in here only as object ids, full ref names and checked URLs. */
  args: readonly string[];
  environment: Record<string, string>;
  /** Where git starts; the engine's own empty directory unless given. */
  directory?: string;
  stdin?: Uint8Array | string;
  /** Gets what writes standard input while git runs, instead of `stdin`. */
  talk?: (say: (text: string) => void) => void;
  /**
   * Writes standard input while git runs, instead of `stdin`. `write` takes a piece over: it is empty afterwards. It
   * answers false once git reads no more.
   */
  feed?: (write: (piece: Uint8Array) => Promise<boolean>) => Promise<void>;
  /** Gets standard error as it comes. */
  onStderr?: (chunk: Uint8Array) => void;
  /** Milliseconds that git may take in all; while `onStdout` is at work, this clock stands still. */
  deadlineMs: number;
  /** Milliseconds by the wall clock, with the work of `onStdout`. */
  wallMs?: number;
  /** Bytes of standard output; past them git is stopped. Without meaning when `onStdout` is given. */
  outputBytes?: number;
  /** Bytes of anonymous memory of git and its children; past them git is stopped. */
  memory?: number;
  /** Answers true when git has filled too much of the disk; asked every second. */
  diskFull?: () => Promise<boolean>;
  signal?: AbortSignal;
  /** Takes standard output piece by piece instead of `RunResult.stdout`; false stops git. */
  onStdout?: (chunk: Uint8Array) => boolean | Promise<boolean>;
}

export interface RunResult {
  /** The exit status; null when a signal ended git. Only statuses that a command documents are verdicts. */
  code: number | null;
  signal: string | null;
  /** Why we stopped git, when we did. */
  stopped: Stop | null;
  stdout: Uint8Array;
  /** At most 10 KB, as git wrote it: scrub it before anyone sees it. */
  stderr: string;
}

export type StreamRequest = Pick<
  RunRequest,
  "args" | "environment" | "stdin" | "deadlineMs" | "wallMs" | "memory" | "signal"
> & {
  /** Milliseconds that a piece of standard output may wait to be read. */
  stallMs: number;
};

export type Stop = Limit | "deadline" | "output" | "caller" | "closing";

export interface Runner {
  run(request: RunRequest): Promise<RunResult>;
  /** Starts a git whose standard output is handed on as it comes; it ends when nobody reads for `stallMs`. */
  stream(request: StreamRequest): { stdout: ReadableStream<Uint8Array>; ended: Promise<RunResult> };
  /** A git process that answers questions until it is ended. */
  open(args: readonly string[], environment: Record<string, string>): Subprocess<"pipe", "pipe", "ignore">;
  end(child: { pid: number; exited: Promise<number> }): void;
  /** Kills everything and waits for it. */
  close(): Promise<void>;
}

const STDERR_MAX_BYTES = 10 * 1024;
const NOTHING = new Uint8Array();

/**
 * The only place that starts git. Every process leads its own process group, so that stopping it also stops the
 * children that it started (`git-remote-https`, `ssh`, `index-pack`); a stop is always SIGKILL.
 */
export function createRunner(directory: string, log: Log, command = "git"): Runner {
  const children = new Map<number, Promise<number>>();
  let closing = false;

  return { run, stream, open, end, close };

  async function run(request: RunRequest): Promise<RunResult> {
    if (closing) return { code: null, signal: null, stopped: "closing", stdout: NOTHING, stderr: "" };
    if (request.signal?.aborted)
      return { code: null, signal: null, stopped: "caller", stdout: NOTHING, stderr: "" };
    const started = performance.now();
    const child = Bun.spawn([command, ...request.args], {
      cwd: request.directory ?? directory,
      env: request.environment,
      stdin: inputOf(request),
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    });
    children.set(child.pid, child.exited);
    // what it started would keep its pipes open, and us waiting
    void child.exited.then(() => child.signalCode !== null && killGroup(child.pid));
    let stopped: Stop | null = null;
    const stop = (why: Stop) => {
      stopped ??= closing ? "closing" : why;
      killGroup(child.pid);
    };
    const clock = countDown(request.deadlineMs, () => stop("deadline"));
    const wall = request.wallMs === undefined ? null : setTimeout(() => stop("deadline"), request.wallMs);
    const unwatch = watch(child.pid, request, stop);
    const onAbort = () => stop("caller");
    const { stdin } = child;
    request.signal?.addEventListener("abort", onAbort);
    try {
      if (request.talk && typeof stdin === "object") request.talk((text) => void writeAll(stdin, text));
      const feeding = request.feed && typeof stdin === "object" ? feed(stdin, request.feed, stop) : null;
      const [stdout, stderr, , unfed] = await Promise.all([
        request.onStdout
          ? pump(child.stdout, request.onStdout, clock, stop)
          : collect(child.stdout, request.outputBytes ?? 0, () => stop("output")),
        collectHead(child.stderr, request.onStderr),
        child.exited,
        feeding,
      ]);
      if (unfed) throw unfed.error;
      const result: RunResult = {
        code: child.exitCode,
        signal: child.signalCode === null ? null : String(child.signalCode),
        stopped: closing ? "closing" : stopped,
        stdout,
        stderr,
      };
      const ms = Math.round(performance.now() - started);
      log.debug(
        { git: request.args[0], ms, code: result.code, signal: result.signal, stopped: result.stopped },
        "git ended",
      );
      if (result.code === null && !result.stopped)
        log.warn({ git: request.args[0], signal: result.signal }, "git died");
      return result;
    } finally {
      clock.stop();
      if (wall) clearTimeout(wall);
      unwatch();
      request.signal?.removeEventListener("abort", onAbort);
      // a reader that threw leaves git running; a git that ended may leave children
      killGroup(child.pid);
      await child.exited;
      children.delete(child.pid);
    }
  }

  function stream(request: StreamRequest): ReturnType<Runner["stream"]> {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({}, undefined, {
      highWaterMark: 0,
    });
    const writer = writable.getWriter();
    const ended = run({
      ...request,
      onStdout: async (chunk) => {
        const late = () => new Error("nobody read");
        return await within(writer.write(chunk), request.stallMs, late).then(
          () => true,
          () => false,
        );
      },
    });
    ended
      .then(
        (result) => (result.code === null ? writer.abort(new Error("git was stopped")) : writer.close()),
        (error: unknown) => writer.abort(error),
      )
      .catch(() => {});
    return { stdout: readable, ended };
  }

  function open(
    args: readonly string[],
    environment: Record<string, string>,
  ): Subprocess<"pipe", "pipe", "ignore"> {
    if (closing) throw new Error("the git engine is closed");
    const child = Bun.spawn([command, ...args], {
      cwd: directory,
      env: environment,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
      detached: true,
    });
    children.set(child.pid, child.exited);
    const forget = () => children.delete(child.pid);
    child.exited.then(forget, forget);
    return child;
  }

  function end(child: { pid: number }): void {
    if (children.has(child.pid)) killGroup(child.pid);
  }

  async function close(): Promise<void> {
    closing = true;
    for (const pid of children.keys()) killGroup(pid);
    await Promise.allSettled(children.values());
  }
}

function inputOf(request: RunRequest): "pipe" | "ignore" | Uint8Array {
  if (request.talk || request.feed) return "pipe";
  return typeof request.stdin === "string" ? Buffer.from(request.stdin) : (request.stdin ?? "ignore");
}

/** @returns what went wrong with what was to be written; that git reads no more is no fault of it */
async function feed(
  stdin: Bun.FileSink,
  source: NonNullable<RunRequest["feed"]>,
  stop: (why: Stop) => void,
): Promise<{ error: unknown } | null> {
  try {
    await source(async (piece) => {
      const isTaken = await writeAll(stdin, piece);
      if (isTaken) release(piece);
      collectAfter(piece.byteLength);
      return isTaken;
    });
    return null;
  } catch (error) {
    stop("caller");
    return { error };
  } finally {
    await Promise.resolve(stdin.end()).catch(() => {});
  }
}

/** Gives memory back at once: 20 bodies in pieces of 2 MB leave 200 MB lying about until the collector comes. */
function release({ buffer, byteLength }: Uint8Array): void {
  const isWhole = buffer.byteLength === byteLength;
  if (isWhole && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // the group is gone
  }
}

/** A timer that can be held. */
function countDown(milliseconds: number, onEnd: () => void) {
  let left = milliseconds;
  let since = performance.now();
  let timer = setTimeout(onEnd, left);
  return {
    hold() {
      clearTimeout(timer);
      left -= performance.now() - since;
    },
    go() {
      since = performance.now();
      timer = setTimeout(onEnd, Math.max(left, 0));
    },
    stop() {
      clearTimeout(timer);
    },
  };
}

async function pump(
  stream: ReadableStream<Uint8Array>,
  take: (chunk: Uint8Array) => boolean | Promise<boolean>,
  clock: ReturnType<typeof countDown>,
  stop: (why: Stop) => void,
): Promise<Uint8Array> {
  for await (const chunk of stream) {
    collectAfter(chunk.byteLength);
    const answer = take(chunk);
    let more = answer;
    if (typeof answer !== "boolean") {
      clock.hold();
      more = await answer;
      clock.go();
    }
    if (!more) {
      stop("caller");
      break;
    }
  }
  return NOTHING;
}

async function collect(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  onTooMuch: () => void,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      onTooMuch();
      break;
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** Reads all, so that git never blocks on a full pipe, and keeps the beginning. */
async function collectHead(
  stream: ReadableStream<Uint8Array>,
  onChunk?: (chunk: Uint8Array) => void,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    onChunk?.(chunk);
    if (bytes < STDERR_MAX_BYTES) chunks.push(chunk.subarray(0, STDERR_MAX_BYTES - bytes));
    bytes += chunk.length;
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
