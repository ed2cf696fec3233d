import type { Subprocess } from "bun";
import type { Settings } from "../settings.ts";

export type Child = Subprocess<"ignore" | Uint8Array, "pipe", "pipe">;
/** A program that a person uses. */
export type UsedChild = Subprocess<"pipe", "pipe", "pipe">;

/** The running processes that the daemon has started. */
export interface Children {
  /** Starts a program in its own process group, with only the given environment. @throws if it cannot be started */
  start(command: Command): Child;
  /** The same, with a pipe to its standard input. */
  startPiped(command: Omit<Command, "stdin">): UsedChild;
  /** The same, with a terminal. */
  startInTerminal(command: Omit<Command, "stdin">, terminal: Bun.TerminalOptions): Subprocess;
  /** Whether a process is one of them: Bun reaps those itself. */
  isOurs(pid: number): boolean;
  /** All except the runtime. */
  helpers(): ReadonlySet<number>;
  /** Kills all of them. */
  kill(): void;
}

export interface Command {
  argv: readonly string[];
  environment: Readonly<Record<string, string>>;
  directory: string;
  uid?: number;
  gid?: number;
  stdin?: Uint8Array;
  /** The agent runtime, whose descendants are ended with it. */
  isRuntime?: boolean;
}

export function createChildren(): Children {
  const running = new Set<number>();
  const helpers = new Set<number>();

  const note = <T extends Subprocess>(child: T, { isRuntime = false }: Command): T => {
    running.add(child.pid);
    if (!isRuntime) helpers.add(child.pid);
    void child.exited.finally(() => {
      running.delete(child.pid);
      helpers.delete(child.pid);
    });
    return child;
  };

  return {
    start(command) {
      const stdio = { stdin: command.stdin ?? "ignore", stdout: "pipe", stderr: "pipe" } as const;
      return note(Bun.spawn([...command.argv], { ...optionsOf(command), detached: true, ...stdio }), command);
    },
    startPiped(command) {
      const stdio = { stdin: "pipe", stdout: "pipe", stderr: "pipe" } as const;
      return note(Bun.spawn([...command.argv], { ...optionsOf(command), detached: true, ...stdio }), command);
    },
    // it is the leader of the terminal's session, and so of a group
    startInTerminal: (command, terminal) =>
      note(Bun.spawn([...command.argv], { ...optionsOf(command), terminal }), command),
    isOurs: (pid) => running.has(pid),
    helpers: () => helpers,
    kill() {
      for (const pid of running) signalGroup(pid, "SIGKILL");
    },
  };
}

function optionsOf({ environment, directory, uid, gid }: Command) {
  return {
    env: { ...environment },
    cwd: directory,
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  };
}

/**
 * Runs a command as the agent: as its user, and in the wrapper of the runtime. Every command that reads the agent's files
 * must run like this: git, for example, executes programs from a repository's settings.
 */
export function asAgent(
  { user, wrap }: Pick<Settings, "user" | "wrap">,
  argv: readonly string[],
): Pick<Command, "argv" | "uid" | "gid"> {
  return { argv: [...wrap, ...argv], ...user };
}

/** Signals a process group by the id of its leader. A group that has ended is not an error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  sendSignal(-pid, signal);
}

/** Signals a process. A process that has ended is not an error. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended
  }
}
