import { withoutRuntime } from "./browser.ts";
import { CliError } from "./failure.ts";
import { commandOf, startGit } from "./git-start.ts";
import { signalTree } from "./process-tree.ts";
import type { System } from "./system.ts";
import { lines } from "./text.ts";

/** Characters of git's last words that are kept when they are not shown. */
const TAIL_MAX = 16 * 1024;
/** A longer line is passed on in pieces. */
const LINE_MAX = 64 * 1024;
/** What outlives git, as a hook's child, may hold its streams for this long; and git may take as long to end by itself. */
const GRACE_MS = 500;
/** Who was asked to end and has not, is ended. */
const KILL_MS = 5000;
const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Watch {
  /** Keeps git's words back instead of letting them through to stderr. */
  hidden: boolean;
  seconds: number;
  env?: Record<string, string>;
  /** Sees each line of standard output, and takes it by answering true. The others go where git's words go. */
  takes?(line: string): boolean;
}

export interface Watched {
  code: number;
  /** The end of what was kept back. */
  words: string;
}

/**
 * Runs git as if a person had started it: on the same terminal, with its progress. What ends svc ends git first.
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
  let words = "";
  const pass = async (line: string) => {
    // Whether git succeeds does not hang on somebody reading along.
    if (!hidden) await system.stderr.write(lines(line)).catch(() => {});
    else words = (words + line).slice(-TAIL_MAX);
  };
  const { child, ended } = await passingSignals(start, seconds, (child) =>
    untilEnded(child, async (stream, line) => {
      if (stream === child.stderr || !takes(line.trimEnd())) await pass(line);
    }),
  );
  if (ended === "late") {
    throw new CliError("timeout", `git ${commandOf(args)} was ended after ${seconds} seconds.`);
  }
  if (ended !== null) await endBy(ended);
  return { code: child.exitCode ?? 1, words };
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
 * Runs git while signals that end svc are passed on to it: from before it is started, so that none leaves it behind.
 * `ended` is what ended svc, once git has ended too; `late` when the time was up.
 */
async function passingSignals(
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
    // A terminal's Ctrl-C has reached everybody already.
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
    // Git may be gone before svc has been told.
    return { child, ended: ended ?? (child.signalCode === "SIGINT" ? "SIGINT" : null) };
  } finally {
    for (const timer of [late, ...timers]) clearTimeout(timer);
    for (const each of ENDINGS) process.off(each, pass);
  }
}

/** Ends as if nobody had caught the signal: the caller's shell has to see it. */
async function endBy(signal: NodeJS.Signals): Promise<never> {
  process.kill(process.pid, signal);
  return new Promise(() => {});
}
