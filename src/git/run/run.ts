import type { Subprocess } from "bun";
import { feed } from "./feed.ts";
import { watchMovement } from "./movement.ts";
import type { Log } from "./options.ts";
import { signal } from "./orphans.ts";
import { type Countdown, collect, collectHead, countDown, NOTHING, pump } from "./output.ts";
import { streamRun } from "./stream.ts";
import { type Limit, watch } from "./watch.ts";
import { writeAll } from "./write-all.ts";

export interface RunRequest {
  /** What follows `git`; text from users is in here only as object ids, full ref names and checked URLs. */
  args: readonly string[];
  environment: Record<string, string>;
  /** Where git starts; the engine's own empty directory unless given. */
  directory?: string;
  stdin?: Uint8Array | string;
  /** Writes standard input while git runs, through `write`, instead of `stdin`. */
  interact?: (write: (text: string) => void) => void;
  /**
   * Streams standard input while git runs, instead of `stdin`. `write` takes ownership of a piece, which is empty
   * afterwards, and returns false once git does not read any more.
   */
  feed?: (write: (piece: Uint8Array) => Promise<boolean>) => Promise<void>;
  /** Gets standard error as it comes. */
  onStderr?: (chunk: Uint8Array) => void;
  /** Milliseconds that git may take in all, not counting the time that `onStdout` takes. */
  deadlineMs: number;
  /** Milliseconds that git may be without movement: without reading, writing or computing. By default only `deadlineMs` applies. */
  stillMs?: number;
  /** Milliseconds by the wall clock, including `onStdout`. */
  wallMs?: number;
  /** Bytes of standard output; past them git is stopped. Ignored with `onStdout`. */
  outputBytes?: number;
  /** Bytes of anonymous memory of git and its children; past them git is stopped. */
  memory?: number;
  /** Whether git has filled too much of the disk; checked every second. */
  diskFull?: () => Promise<boolean>;
  signal?: AbortSignal;
  /** Takes standard output piece by piece instead of `RunResult.stdout`; false stops git. */
  onStdout?: (chunk: Uint8Array) => boolean | Promise<boolean>;
}

export interface RunResult {
  /** The exit status; null when a signal ended git. Only statuses that a command documents are verdicts. */
  code: number | null;
  signal: string | null;
  /** Why svc stopped git, if it did. */
  stopped: Stop | null;
  stdout: Uint8Array;
  /** At most 10 KB, as git wrote it: redact it before showing it. */
  stderr: string;
}

export type StreamRequest = Pick<
  RunRequest,
  "args" | "environment" | "stdin" | "deadlineMs" | "wallMs" | "memory" | "signal"
> & {
  /** Milliseconds that a piece of standard output may wait to be read. */
  stallMs: number;
};

export type Stop = Limit | "still" | "deadline" | "output" | "caller" | "closing";

const NOT_STARTED = { code: null, signal: null, stdout: NOTHING, stderr: "" };

/**
 * Starts git; no other code does. Every process leads its own process group, so that stopping it also stops its
 * children (`git-remote-https`, `ssh`, `index-pack`); a stop is always SIGKILL.
 */
export class Runner {
  readonly #directory: string;
  readonly #log: Log;
  readonly #command: string;
  readonly #children = new Map<number, Promise<number>>();
  #isClosed = false;

  constructor(directory: string, log: Log, command = "git") {
    this.#directory = directory;
    this.#log = log;
    this.#command = command;
  }

  async run(request: RunRequest): Promise<RunResult> {
    if (this.#isClosed || request.signal?.aborted)
      return { ...NOT_STARTED, stopped: this.#isClosed ? "closing" : "caller" };
    const started = performance.now();
    const child = Bun.spawn([this.#command, ...request.args], {
      cwd: request.directory ?? this.#directory,
      env: request.environment,
      stdin: inputOf(request),
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    });
    this.#children.set(child.pid, child.exited);
    // its children would keep its pipes open
    void child.exited.then(() => child.signalCode !== null && killGroup(child.pid));
    let stopped: Stop | null = null;
    const stop = (why: Stop) => {
      stopped ??= this.#isClosed ? "closing" : why;
      killGroup(child.pid);
    };
    const clock = countDown(request.deadlineMs, () => stop("deadline"));
    const wall = request.wallMs === undefined ? null : setTimeout(() => stop("deadline"), request.wallMs);
    const unwatch = watch(child.pid, request, stop);
    const { stillMs } = request;
    const unobserve = stillMs === undefined ? null : watchMovement(child.pid, stillMs, () => stop("still"));
    const onAbort = () => stop("caller");
    request.signal?.addEventListener("abort", onAbort);
    try {
      const { stdout, stderr } = await communicate(child, request, clock, stop);
      const result: RunResult = {
        code: child.exitCode,
        signal: child.signalCode === null ? null : String(child.signalCode),
        stopped: this.#isClosed ? "closing" : stopped,
        stdout,
        stderr,
      };
      logEnd(this.#log, request, result, performance.now() - started);
      return result;
    } finally {
      clock.stop();
      if (wall) clearTimeout(wall);
      unwatch();
      unobserve?.();
      request.signal?.removeEventListener("abort", onAbort);
      // a reader that threw leaves git running; a git that ended may leave children
      killGroup(child.pid);
      await child.exited;
      this.#children.delete(child.pid);
    }
  }

  /** Starts git and streams its standard output; stops it when the stream is not read for `stallMs`. */
  stream(request: StreamRequest): { stdout: ReadableStream<Uint8Array>; ended: Promise<RunResult> } {
    return streamRun(this, request);
  }

  /** Starts a git process that answers requests until `end`. */
  open(args: readonly string[], environment: Record<string, string>): Subprocess<"pipe", "pipe", "ignore"> {
    if (this.#isClosed) throw new Error("the git engine is closed");
    const child = Bun.spawn([this.#command, ...args], {
      cwd: this.#directory,
      env: environment,
      stdin: "pipe",
      stdout: "pipe",
      stderr: "ignore",
      detached: true,
    });
    this.#children.set(child.pid, child.exited);
    const forget = () => this.#children.delete(child.pid);
    child.exited.then(forget, forget);
    return child;
  }

  end(child: { pid: number }): void {
    if (this.#children.has(child.pid)) killGroup(child.pid);
  }

  /** Kills everything and waits for it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const pid of this.#children.keys()) killGroup(pid);
    await Promise.allSettled(this.#children.values());
  }
}

function inputOf(request: RunRequest): "pipe" | "ignore" | Uint8Array {
  if (request.interact || request.feed) return "pipe";
  return typeof request.stdin === "string" ? Buffer.from(request.stdin) : (request.stdin ?? "ignore");
}

function killGroup(pid: number): void {
  signal(-pid, "SIGKILL");
}

/** Passes git its input and reads its output until it has ended. */
async function communicate(
  child: Subprocess<"pipe" | "ignore" | Uint8Array, "pipe", "pipe">,
  request: RunRequest,
  clock: Countdown,
  stop: (why: Stop) => void,
): Promise<{ stdout: Uint8Array; stderr: string }> {
  const { stdin } = child;
  if (request.interact && typeof stdin === "object") request.interact((text) => void writeAll(stdin, text));
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
  return { stdout, stderr };
}

function logEnd(log: Log, request: RunRequest, result: RunResult, ms: number): void {
  const { code, signal, stopped } = result;
  log.debug({ git: request.args[0], ms: Math.round(ms), code, signal, stopped }, "git ended");
  if (code === null && !stopped) log.warn({ git: request.args[0], signal }, "git died");
}
