import { withoutRuntime } from "./browser.ts";
import { CliError } from "./failure.ts";
import { commandOf, startGit } from "./git-start.ts";
import { signalTree } from "./process-tree.ts";
import type { System } from "./system.ts";
import { lines } from "./text.ts";

/** Characters kept of git's hidden output. */
const TAIL_MAX = 16 * 1024;
/** A longer line is forwarded in chunks. */
const LINE_MAX = 64 * 1024;
/** How long a process that outlives git, such as a hook's child, may keep its streams open, and git may take to exit. */
const GRACE_MS = 500;
/** Time after a signal until SIGKILL. */
const KILL_MS = 5000;
const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Watch {
  /** Captures git's output instead of forwarding it to stderr. */
  hidden: boolean;
  seconds: number;
  env?: Record<string, string>;
  /** Called with each line of stdout; returns true to consume it. Other lines are handled like stderr. */
  takes?(line: string): boolean;
}

export interface Watched {
  code: number;
  /** The end of the captured output. */
  output: string;
}

/**
 * Runs git on the user's terminal, with its progress. Signals that end svc end git first.
 * @throws CliError `git`, `timeout`.
 */
export async function watch(
  system: System,
  folder: string,
  args: readonly string[],
  { hidden, seconds, env, takes = () => false }: Watch,
): Promise<Watched> {
  const start = () =>
    Bun.spawn(["git", ...args], {
      cwd: folder,
      env: { ...withoutRuntime(system.env), ...env },
      stdin: hidden ? "ignore" : system.stdin.fd,
      stdout: "pipe",
      stderr: hidden ? "pipe" : system.stderr.fd,
    });
  let output = "";
  const pass = async (line: string) => {
    // A closed stderr does not fail git.
    if (!hidden) await system.stderr.write(lines(line)).catch(() => {});
    else output = (output + line).slice(-TAIL_MAX);
  };
  const { child, ended } = await forwardingSignals(start, seconds, (child) =>
    untilEnded(child, async (stream, line) => {
      if (stream === child.stderr || !takes(line.trimEnd())) await pass(line);
    }),
  );
  if (ended === "late") {
    throw new CliError("timeout", `git ${commandOf(args)} was stopped after ${seconds} seconds.`);
  }
  if (ended !== null) await endBy(ended);
  return { code: child.exitCode ?? 1, output };
}

type Child = Bun.Subprocess<"ignore" | number, "pipe", "pipe" | number>;
type Stream = ReadableStream<Uint8Array>;

async function untilEnded(
  child: Child,
  onLine: (stream: Stream, line: string) => Promise<void>,
): Promise<void> {
  const streams = [child.stdout, child.stderr].filter((each) => each instanceof ReadableStream);
  const readers = streams.map((stream) => ({ stream, reader: stream.getReader() }));
  const read = readers.map(({ stream, reader }) => eachLine(reader, (line) => onLine(stream, line)));
  await child.exited;
  const grace = setTimeout(() => {
    for (const { reader } of readers) void reader.cancel();
  }, GRACE_MS);
  await Promise.all(read).finally(() => clearTimeout(grace));
}

async function eachLine(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onLine: (line: string) => Promise<void>,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      await onLine(rest.slice(0, end + 1));
      rest = rest.slice(end + 1);
    }
    if (rest !== "" && (done || rest.length > LINE_MAX)) {
      await onLine(rest);
      rest = "";
    }
    if (done) return;
  }
}

/**
 * Runs git and forwards the signals that end svc to it, from before the start, so that git is never left running.
 * `ended` is the signal that ends svc, after git has exited; `late` on a timeout.
 */
async function forwardingSignals(
  start: () => Child,
  seconds: number,
  run: (child: Child) => Promise<void>,
): Promise<{ child: Child; ended: NodeJS.Signals | "late" | null }> {
  let child: Child | null = null;
  let ended: NodeJS.Signals | "late" | null = null;
  const timers: Timer[] = [];
  const after = (ms: number, signal: NodeJS.Signals) =>
    timers.push(setTimeout(() => child && signalTree(child.pid, signal), ms));
  const pass = (signal: NodeJS.Signals) => {
    ended ??= signal;
    // A terminal sends Ctrl-C to the whole process group.
    after(signal === "SIGINT" ? GRACE_MS : 0, signal);
    after(KILL_MS, "SIGKILL");
  };
  const late = setTimeout(() => {
    ended = "late";
    pass("SIGTERM");
  }, seconds * 1000);
  for (const each of ENDINGS) process.on(each, pass);
  try {
    child = startGit(start);
    await run(child);
    // Git may exit before svc receives the signal.
    return { child, ended: ended ?? (child.signalCode === "SIGINT" ? "SIGINT" : null) };
  } finally {
    for (const timer of [late, ...timers]) clearTimeout(timer);
    for (const each of ENDINGS) process.off(each, pass);
  }
}

/** Ends svc by the signal, which the calling shell has to see. */
async function endBy(signal: NodeJS.Signals): Promise<never> {
  process.kill(process.pid, signal);
  return new Promise(() => {});
}
