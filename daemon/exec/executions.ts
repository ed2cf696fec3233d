import type { DaemonExec } from "../../src/contract/daemon.ts";
import { SvcError } from "../../src/contract/errors.ts";
import { agentEnvironment } from "../runtime/launch.ts";
import type { Session } from "../session.ts";
import { EXECUTION_LIMITS, Execution, type ExecutionLimits } from "./execution.ts";
import { startProgram } from "./program.ts";

/** Commands of people at once: a shell for each window of an editor, and more. */
const AT_ONCE_MAX = 64;

type Context = Pick<Session, "settings" | "children" | "project" | "clone" | "usedAt">;

/** The commands that people run in the sandbox (contract: Sessions, sandboxes, proxy). */
export class Executions {
  readonly #context: () => Context;
  readonly #limits: ExecutionLimits;
  readonly #running = new Map<string, Execution>();

  constructor(context: () => Context, limits: ExecutionLimits = EXECUTION_LIMITS) {
    this.#context = context;
    this.#limits = limits;
  }

  /**
   * Starts a command as the agent's user, with the environment of the agent, in the workspace.
   * @throws SvcError unavailable before the clone is there; too_many_commands
   */
  start({ exec_id: id, user_id: userId, command, terminal }: DaemonExec): void {
    const { settings, children, project, clone } = this.#context();
    if (clone !== "ok") {
      const sentence = "The repository is not cloned yet. Try again in a moment.";
      throw new SvcError("unavailable", sentence, {}, { "Retry-After": "1" });
    }
    // a request that was sent again
    if (this.#running.has(id)) return;
    if (this.#running.size >= AT_ONCE_MAX) {
      const sentence = `${AT_ONCE_MAX} commands run in this sandbox. End one of them first.`;
      throw new SvcError("too_many_commands", sentence);
    }
    const environment = agentEnvironment(settings, project.secrets);
    const execution = new Execution({
      ...{ userId, isTerminal: terminal !== null, limits: this.#limits },
      start: (sink) => startProgram({ settings, children }, { command, terminal, environment }, sink),
      onUse: () => {
        this.#context().usedAt = performance.now();
      },
    });
    this.#running.set(id, execution);
    void execution.over.then(() => this.#running.delete(id));
  }

  /** The command of a user; null: there is none of this id, or it is another's. */
  find(id: string, userId: string): Execution | null {
    const execution = this.#running.get(id);
    return execution?.userId === userId ? execution : null;
  }

  get(id: string): Execution | null {
    return this.#running.get(id) ?? null;
  }

  /** Ends all commands, and waits until they have ended. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map((execution) => execution.end()));
  }
}
