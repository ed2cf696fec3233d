import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sink, System } from "../../cli/system.ts";

const ROOT = join(import.meta.dir, "../..");

/** The client under test: the source, or `dist/svc` when the suite runs against the binaries. */
export const SVC: readonly string[] =
  process.env["SVC_TEST_DIST"] === "1"
    ? [join(ROOT, "dist/svc")]
    : [process.execPath, join(ROOT, "cli/main.ts")];

export interface Ran {
  code: number | null;
  signal: NodeJS.Signals | number | null;
  stdout: string;
  stderr: string;
}

/** A home of its own with nothing in it, and a working directory beside it. */
export function makeHome(): { home: string; cwd: string; config: string } {
  const home = mkdtempSync(join(tmpdir(), "svc-cli-"));
  const cwd = join(home, "work");
  mkdirSync(cwd);
  return { home, cwd, config: join(home, ".config/svc/config.json") };
}

export interface RunOptions {
  home?: ReturnType<typeof makeHome>;
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string | Uint8Array;
  /** How long it may take; 15 if left out. */
  seconds?: number;
}

/** Nothing of this machine's environment reaches the client but where programs are. */
export function cliEnv(home: string, env: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: home, TERM: "xterm-256color", ...env };
}

/** Runs `svc` as a process with pipes for streams. */
export async function svc(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const home = options.home ?? makeHome();
  const child = Bun.spawn([...SVC, ...args], {
    cwd: options.cwd ?? home.cwd,
    env: cliEnv(home.home, options.env),
    stdin: options.stdin === undefined ? "ignore" : new Blob([options.stdin as Uint8Array<ArrayBuffer>]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: (options.seconds ?? 15) * 1000,
  });
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr), child.exited]);
  return { code: child.exitCode, signal: child.signalCode, stdout, stderr };
}

/** Runs git as a person whose home this is: with their settings and credential helpers, and nobody to ask. */
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

/** Everything that a stream of a child says. */
export const textOf = (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> =>
  new Response(stream).text();

export interface TerminalRun {
  /** Everything that was drawn so far. */
  screen(): string;
  /** Waits until the terminal shows this. */
  shows(text: string | RegExp): Promise<void>;
  type(keys: string): void;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | number | null }>;
}

/** Runs `svc` on a pseudo-terminal, which is all three of its streams. */
export function svcOnTerminal(args: readonly string[], options: RunOptions = {}): TerminalRun {
  const home = options.home ?? makeHome();
  let drawn = "";
  const decoder = new TextDecoder();
  const child = Bun.spawn([...SVC, ...args], {
    cwd: options.cwd ?? home.cwd,
    env: cliEnv(home.home, options.env),
    terminal: {
      cols: 100,
      rows: 30,
      data(_, bytes) {
        drawn += decoder.decode(bytes, { stream: true });
      },
    },
    timeout: 15_000,
  });
  const exited = child.exited.then(async () => {
    await Bun.sleep(20);
    child.terminal?.close();
    return { code: child.exitCode, signal: child.signalCode };
  });
  return {
    screen: () => drawn,
    async shows(text) {
      const deadline = Date.now() + 8000;
      while (typeof text === "string" ? !drawn.includes(text) : !text.test(drawn)) {
        if (Date.now() > deadline) throw new Error(`the terminal never showed ${text}; it shows:\n${drawn}`);
        await Bun.sleep(10);
      }
    },
    type: (keys) => {
      child.terminal?.write(keys);
    },
    exited,
  };
}

export interface FakeSystem extends System {
  out(): string;
  err(): string;
}

/** A system for `run()` in this process: streams that are collected and may claim to be terminals. */
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
    async write(chunk) {
      into.push(Buffer.from(chunk as string));
    },
  });
  return {
    env: options.env ?? {},
    cwd: options.cwd ?? tmpdir(),
    stdin: {
      isTTY: options.tty?.stdin ?? false,
      bytes: async () => Buffer.from(options.stdin ?? ""),
    },
    stdout: sink(written.out, options.tty?.stdout ?? false),
    stderr: sink(written.err, options.tty?.stderr ?? false),
    now: () => Date.parse("2026-11-20T12:00:00Z"),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    out: () => Buffer.concat(written.out).toString("utf8"),
    err: () => Buffer.concat(written.err).toString("utf8"),
  };
}
