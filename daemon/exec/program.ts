import { chownSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Subprocess } from "bun";
import type { ExecSignal } from "../../src/contract/exec-stream.ts";
import { asAgent, type Children } from "../process/children.ts";
import { hangUp, signalProgram } from "../process/tree.ts";
import type { Settings, User } from "../settings.ts";

/** How a command is started. */
export interface Start {
  /** The program and its arguments; empty: a shell. */
  command: readonly string[];
  /** Its terminal; null: it has pipes. */
  terminal: { cols: number; rows: number; term?: string } | null;
  environment: Readonly<Record<string, string>>;
}

/** Receives the output. A pipe is not read while the promise of its last bytes is pending. */
export interface Sink {
  stdout(bytes: Uint8Array): Promise<void> | void;
  stderr(bytes: Uint8Array): Promise<void> | void;
}

/** A running command, with pipes or with a terminal. */
export interface Program {
  /** Resolves when the program may have more. Input for a program that has ended is dropped. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  resize(cols: number, rows: number): void;
  signal(signal: ExecSignal): Promise<void>;
  /** Ends it, and all that it has started. */
  end(): Promise<void>;
  exited: Promise<Exit>;
  /** Resolves when its output has ended. */
  silent: Promise<unknown>;
  /** Closes its terminal, which hangs up on what it has left behind. */
  close(): void;
}

interface Exit {
  code: number | null;
  /** Such as `SIGKILL`. */
  signal: string | null;
}

/** How programs run as the agent, and where. */
export interface Context {
  settings: Pick<Settings, "user" | "wrap" | "workspace">;
  children: Children;
}

/** The time to end after SIGHUP. */
const HANG_UP_MS = 2_000;
const TERM = "xterm-256color";
/** Ctrl-D. */
const END_OF_INPUT = "\x04";
/** Shell: becomes the program. */
const EXEC = 'exec "$@"';
/** Shell: waits until the terminal is the user's (`givingTerminal`), for five seconds at most. */
const UNTIL_GIVEN = "n=0; until [ -O /proc/self/fd/0 ] || [ $((n += 1)) -gt 500 ]; do sleep 0.01; done";

/** @throws if the program cannot be started */
export function startProgram({ settings, children }: Context, start: Start, sink: Sink): Program {
  const argv = start.command.length === 0 ? [shellOf(start.environment), "-i"] : start.command;
  const script = start.terminal && settings.user ? `${UNTIL_GIVEN}; ${EXEC}` : EXEC;
  const command = {
    // the shell reports a program that is not there, in a wrapper as well
    ...asAgent(settings, ["/bin/sh", "-c", script, "sh", ...argv]),
    environment: { ...start.environment, ...(start.terminal && { TERM: start.terminal.term ?? TERM }) },
    directory: settings.workspace,
  };
  return start.terminal
    ? inTerminal(settings.user, children, command, start.terminal, sink)
    : withPipes(children, command, sink);
}

type Piped = Parameters<Children["startPiped"]>[0];

function withPipes(children: Children, command: Piped, sink: Sink): Program {
  const child = children.startPiped(command);
  const read = Promise.all([drain(child.stdout, sink.stdout), drain(child.stderr, sink.stderr)]);
  return {
    async write(bytes) {
      try {
        child.stdin.write(bytes);
        await child.stdin.flush();
      } catch {
        // it has closed its standard input
      }
    },
    endInput: () => void Promise.resolve(child.stdin.end()).catch(() => {}),
    resize() {},
    signal: (signal) => signalProgram(child.pid, `SIG${signal}`),
    end: () => hangUp(child.pid, HANG_UP_MS),
    exited: child.exited.then(() => exitOf(child)),
    silent: read,
    close() {},
  };
}

function inTerminal(
  user: User | null,
  children: Children,
  command: Piped,
  size: { cols: number; rows: number },
  sink: Sink,
): Program {
  const { promise: silent, resolve } = Promise.withResolvers<void>();
  let drained = Promise.withResolvers<void>();
  const child = givingTerminal(user, () =>
    children.startInTerminal(command, {
      cols: size.cols,
      rows: size.rows,
      // the bytes are valid during the call only
      data: (_, bytes) => void sink.stdout(bytes.slice()),
      drain: () => drained.resolve(),
      exit: () => resolve(),
    }),
  );
  const { terminal } = child;
  if (!terminal) throw new Error("a program has no terminal");
  return {
    async write(bytes) {
      for (let rest = bytes; rest.length > 0 && !terminal.closed; ) {
        drained = Promise.withResolvers<void>();
        const written = terminal.write(rest);
        rest = rest.subarray(written);
        if (rest.length > 0) await Promise.race([drained.promise, child.exited]);
        if (child.exitCode !== null || child.signalCode !== null) return;
      }
    },
    endInput: () => void terminal.write(END_OF_INPUT),
    resize: (cols, rows) => terminal.resize(cols, rows),
    signal: (signal) => signalProgram(child.pid, `SIG${signal}`),
    end: () => hangUp(child.pid, HANG_UP_MS),
    exited: child.exited.then(() => exitOf(child)),
    silent,
    close: () => terminal.close(),
  };
}

/**
 * Resolves when a program that has exited has no more output. Processes that it has left behind may hold its pipes open for
 * good: they count as silent when nothing has come for `ms`.
 * @param state the bytes so far, and whether their receiver makes the program wait
 */
export async function untilSilent(
  program: Pick<Program, "silent">,
  state: () => { bytes: number; isWaiting: boolean },
  ms: number,
): Promise<void> {
  let isSilent = false;
  const silent = program.silent.then(() => {
    isSilent = true;
  });
  for (let before = -1; !isSilent; ) {
    const { bytes, isWaiting } = state();
    if (bytes === before && !isWaiting) return;
    before = bytes;
    await Promise.race([silent, pause(ms)]);
  }
}

function exitOf({ exitCode, signalCode }: Subprocess): Exit {
  return { code: exitCode, signal: signalCode === null ? null : String(signalCode) };
}

/**
 * Gives the terminal of a new program to the agent's user: programs that open it by its name, such as tmux, must be allowed to.
 * Bun does not tell its name, so it is the one that was not there before. (A terminal that is opened first would not be the
 * controlling terminal of its program.)
 */
function givingTerminal<T>(user: User | null, start: () => T): T {
  if (!user) return start();
  const before = new Set(ownTerminals());
  const started = start();
  for (const path of ownTerminals()) if (!before.has(path)) chownSync(path, user.uid, user.gid);
  return started;
}

/** The terminals of the daemon's user. */
function ownTerminals(): string[] {
  try {
    return readdirSync(TERMINALS)
      .map((name) => join(TERMINALS, name))
      .filter((path) => statSync(path).uid === process.getuid?.());
  } catch {
    return [];
  }
}

const TERMINALS = "/dev/pts";

async function drain(
  stream: ReadableStream<Uint8Array>,
  onBytes: (bytes: Uint8Array) => Promise<void> | void,
): Promise<void> {
  try {
    for await (const bytes of stream) await onBytes(bytes);
  } catch {
    // the pipe broke with its program
  }
}

/** The shell of the agent's user. */
export function shellOf(environment: Readonly<Record<string, string | undefined>>): string {
  return environment["SHELL"] || Bun.which("bash", { PATH: environment["PATH"] ?? "" }) || "/bin/sh";
}
