import { afterAll } from "bun:test";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../cli/run.ts";
import type { Sink, System } from "../../cli/system.ts";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { sleep } from "../../src/conversation/reconnect.ts";
import { AGAINST_BINARIES } from "./api.ts";
import { until } from "./until.ts";

const ROOT = join(import.meta.dir, "../..");

/** The client as a program: the source, or `dist/svc` when the suite runs against the binaries. */
export const SVC: readonly string[] = AGAINST_BINARIES
  ? [join(ROOT, "dist/svc")]
  : [process.execPath, join(ROOT, "cli/main.ts")];

export interface Ran {
  code: number | null;
  signal: NodeJS.Signals | number | null;
  stdout: string;
  stderr: string;
}

const homes: string[] = [];
afterAll(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

/** An empty home and a working directory beside it, removed after the file's tests. */
export function makeHome(): { home: string; cwd: string; config: string } {
  const home = mkdtempSync(join(tmpdir(), "svc-cli-"));
  homes.push(home);
  const cwd = join(home, "work");
  mkdirSync(cwd);
  return { home, cwd, config: join(home, ".config/svc/config.json") };
}

export interface RunOptions {
  home?: ReturnType<typeof makeHome>;
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string | Uint8Array;
}

/** Settings that prevent git's background processes, whatever the user's configuration. */
const NO_MAINTENANCE = Object.fromEntries(
  Object.entries(GIT_ENVIRONMENT).filter(([name]) => /^GIT_CONFIG_(COUNT|KEY|VALUE)/.test(name)),
);

/** Of this machine's environment, the client gets only the PATH. */
export function cliEnv(home: string, env: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: home, TERM: "xterm-256color", ...NO_MAINTENANCE, ...env };
}

/** Runs `svc` without a terminal, in this process unless the suite runs against the binaries. */
export async function svc(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  if (AGAINST_BINARIES) return svcProcess(args, options);
  const home = options.home ?? makeHome();
  const [out, err] = [openStream(), openStream()];
  const nothing = openSync("/dev/null", "r");
  const waits = quickWaits();
  try {
    const system: System = {
      env: cliEnv(home.home, options.env),
      cwd: realpathSync(options.cwd ?? home.cwd),
      self: SVC,
      stdin: {
        isTTY: false,
        fd: nothing,
        bytes: stdinOf(options.stdin),
        stream: () => streamOf(options.stdin),
      },
      stdout: out.sink,
      stderr: err.sink,
      now: Date.now,
      sleep: waits.sleep,
      fetch: (url, init) => fetch(url, init),
    };
    const code = await run(system, args);
    await waits.requireNone();
    return { code, signal: null, stdout: out.text(), stderr: err.text() };
  } finally {
    for (const fd of [out.sink.fd, err.sink.fd, nothing]) closeSync(fd);
  }
}

/** A stream that is not a terminal, for svc and the programs that it starts. */
function openStream(): { sink: Sink; text(): string } {
  const folder = mkdtempSync(join(tmpdir(), "svc-stream-"));
  const fd = openSync(join(folder, "written"), "ax+");
  rmSync(folder, { recursive: true });
  return {
    sink: {
      isTTY: false,
      columns: 80,
      fd,
      async write(chunk) {
        writeSync(fd, Buffer.from(chunk as string));
      },
    },
    text() {
      const bytes = Buffer.alloc(fstatSync(fd).size);
      readSync(fd, bytes, 0, bytes.byteLength, 0);
      return bytes.toString();
    },
  };
}

/** Shortens polling intervals fifty times; `requireNone` checks that no wait is left. */
function quickWaits(): Pick<System, "sleep"> & { requireNone(): Promise<void> } {
  let count = 0;
  return {
    async sleep(ms, signal) {
      count++;
      await sleep(ms / 50, signal);
      count--;
    },
    async requireNone() {
      await Bun.sleep(0);
      if (count > 0) throw new Error(`svc has come to its end, and still waits (${count})`);
    },
  };
}

async function* streamOf(given: RunOptions["stdin"] = ""): AsyncGenerator<Uint8Array> {
  yield Buffer.from(given as string);
}

function stdinOf(given: RunOptions["stdin"] = ""): System["stdin"]["bytes"] {
  const bytes = Buffer.from(given as string);
  return async (limit) => {
    if (bytes.byteLength > limit) throw new RangeError("standard input is too large");
    return bytes;
  };
}

/** Runs `svc` as a process with pipes, for tests that need a process. */
export async function svcProcess(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = spawnSvc(args, options);
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]);
  return { code: child.exitCode, signal: child.signalCode, stdout, stderr };
}

/** Only the process, for a test that controls it while it runs. */
export function spawnSvc(args: readonly string[], options: RunOptions = {}) {
  const home = options.home ?? makeHome();
  return Bun.spawn([...SVC, ...args], {
    cwd: options.cwd ?? home.cwd,
    env: cliEnv(home.home, options.env),
    stdin: options.stdin === undefined ? "ignore" : new Blob([options.stdin as Uint8Array<ArrayBuffer>]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: WAIT_LIMIT_MS,
  });
}

/** Runs git as the owner of this home: with their settings and credential helpers, without prompts. */
export async function gitAtHome(home: ReturnType<typeof makeHome>, args: readonly string[]) {
  const child = Bun.spawn(["git", ...args], {
    cwd: home.cwd,
    env: { ...cliEnv(home.home), GIT_TERMINAL_PROMPT: "0", GIT_CONFIG_NOSYSTEM: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  return { code: await child.exited, out, err };
}

/** The full output of a child's stream. */
export const textOf = (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> =>
  new Response(stream).text();

export interface TerminalRun {
  /** All output so far. */
  screen(): string;
  /** Waits until the terminal shows this. */
  shows(text: string | RegExp): Promise<void>;
  type(keys: string): void;
  /** Resolves when it has ended, with all its output received. */
  exited: Promise<Ended>;
}

type Ended = Pick<Ran, "code" | "signal">;

/** Runs `svc` on a pseudo-terminal, which is all three of its streams. */
export function svcOnTerminal(args: readonly string[], options: RunOptions = {}): TerminalRun {
  let drawn = "";
  const decoder = new TextDecoder();
  const { child, exited } = spawnOnTerminal([...SVC, ...args], options, [100, 30], (bytes) => {
    drawn += decoder.decode(bytes, { stream: true });
  });
  return {
    screen: () => drawn,
    shows: (text) =>
      until(
        () => `the terminal shows ${text}; it shows:\n${drawn}`,
        () => (typeof text === "string" ? drawn.includes(text) : text.test(drawn)),
      ),
    type: (keys) => {
      child.terminal?.write(keys);
    },
    exited,
  };
}

/** Starts a command on a pseudo-terminal. */
export function spawnOnTerminal(
  command: readonly string[],
  options: RunOptions,
  [cols, rows]: [number, number],
  data: (bytes: Uint8Array) => void,
): { child: Bun.Subprocess; exited: Promise<Ended> } {
  const home = options.home ?? makeHome();
  const drained = Promise.withResolvers<void>();
  const child = Bun.spawn([...command], {
    cwd: options.cwd ?? home.cwd,
    env: cliEnv(home.home, options.env),
    terminal: { cols, rows, data: (_, bytes) => data(bytes), exit: () => drained.resolve() },
    timeout: WAIT_LIMIT_MS,
  });
  const exited = Promise.all([child.exited, drained.promise]).then(() => {
    child.terminal?.close();
    return { code: child.exitCode, signal: child.signalCode };
  });
  return { child, exited };
}

export interface FakeSystem extends System {
  out(): string;
  err(): string;
}

/** A system for `run()` in this process: streams that are collected and may pose as terminals. */
export function fakeSystem(
  options: Partial<Pick<System, "env" | "cwd" | "fetch">> & {
    tty?: { stdin?: boolean; stdout?: boolean; stderr?: boolean };
    columns?: number;
    stdin?: string;
  } = {},
): FakeSystem {
  const written = { out: [] as Uint8Array[], err: [] as Uint8Array[] };
  const sink = (into: Uint8Array[], isTTY: boolean): Sink => ({
    isTTY,
    columns: options.columns ?? 80,
    fd: 2,
    async write(chunk) {
      into.push(Buffer.from(chunk as string));
    },
  });
  return {
    env: options.env ?? {},
    cwd: options.cwd ?? tmpdir(),
    self: SVC,
    stdin: {
      fd: 0,
      isTTY: options.tty?.stdin ?? false,
      bytes: async () => Buffer.from(options.stdin ?? ""),
      stream: () => streamOf(options.stdin),
    },
    stdout: sink(written.out, options.tty?.stdout ?? false),
    stderr: sink(written.err, options.tty?.stderr ?? false),
    now: () => Date.parse("2026-11-20T12:00:00Z"),
    sleep: quickWaits().sleep,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    out: () => Buffer.concat(written.out).toString("utf8"),
    err: () => Buffer.concat(written.err).toString("utf8"),
  };
}
