import type { Subprocess } from "bun";
import type { Settings } from "../settings.ts";

export type Child = Subprocess<"ignore" | Uint8Array, "pipe", "pipe">;

/** The processes that the daemon itself has started and that run. */
export interface Children {
  /** Starts a program that leads its own process group, with only the given environment. @throws when it cannot */
  start(command: Command): Child;
  /** Whether a process is one of them: Bun waits for those itself. */
  isOurs(pid: number): boolean;
  /** Those that are at work for the daemon: not the runtime. */
  helpers(): ReadonlySet<number>;
  /** Ends them all, at once. */
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

  return {
    start({ argv, environment, directory, uid, gid, stdin, isRuntime = false }) {
      const child = Bun.spawn([...argv], {
        env: { ...environment },
        cwd: directory,
        detached: true,
        stdin: stdin ?? "ignore",
        stdout: "pipe",
        stderr: "pipe",
        ...(uid !== undefined && { uid }),
        ...(gid !== undefined && { gid }),
      });
      running.add(child.pid);
      if (!isRuntime) helpers.add(child.pid);
      void child.exited.finally(() => {
        running.delete(child.pid);
        helpers.delete(child.pid);
      });
      return child;
    },
    isOurs: (pid) => running.has(pid),
    helpers: () => helpers,
    kill() {
      for (const pid of running) signalGroup(pid, "SIGKILL");
    },
  };
}

/**
 * A command as the agent's own: its user's, behind what wraps the runtime. Whatever reads what the agent has written
 * (its repository's settings are programs to git) runs like this.
 */
export function asAgent(
  { user, wrap }: Pick<Settings, "user" | "wrap">,
  argv: readonly string[],
): Pick<Command, "argv" | "uid" | "gid"> {
  return { argv: [...wrap, ...argv], ...user };
}

/** Signals a process that leads its group, and all that stayed in it; a group that is gone is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  sendSignal(-pid, signal);
}

/** Signals a process; one that has just ended is no error. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has ended
  }
}
