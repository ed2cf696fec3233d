import type {
  CheckStep,
  DeployStep,
  MergeStep,
  PreviewStep,
  PromptStep,
  SessionStep,
} from "../../src/deps.ts";
import type { PushStep } from "../../src/git/run/options.ts";
import { spawnServer } from "./api.ts";
import { serverCommand } from "./server-command.ts";

/** A server process that can be paused between two steps, killed, and restarted. */
export interface HaltingServer {
  url(): string;
  pid(): number;
  /** Resolves when the server has reached this step, where it waits for `go`. */
  haltAt(
    step: MergeStep | PushStep | SessionStep | PromptStep | DeployStep | PreviewStep | CheckStep,
  ): Promise<void>;
  go(): void;
  kill(): Promise<void>;
  /** Starts another one when this has ended. */
  start(): Promise<void>;
  /** Shuts it down gracefully. */
  end(): Promise<void>;
}

/** As the test command runs its files, Bun kills what a killed one has started: here it is to live on, as it would. */
export const LEFT_ALONE = { BUN_FEATURE_FLAG_NO_ORPHANS: "0" };

export async function startHaltingServer(env: Record<string, string>): Promise<HaltingServer> {
  let onReached = () => {};
  const command = serverCommand("halting");
  const spawn = () => spawnServer(command, { ...env, ...LEFT_ALONE }, () => onReached());
  let server = await spawn();
  const signal = async (name: "SIGKILL" | "SIGTERM") => {
    server.child.kill(name);
    await server.child.exited;
  };
  return {
    url: () => server.url,
    pid: () => server.child.pid,
    haltAt(step) {
      server.child.send({ haltAt: step });
      return new Promise((resolve) => {
        onReached = resolve;
      });
    },
    go: () => server.child.send({ go: true }),
    kill: () => signal("SIGKILL"),
    async start() {
      if (server.child.exitCode !== null || server.child.signalCode !== null) server = await spawn();
    },
    end: () => signal("SIGTERM"),
  };
}
