import { methods } from "@agentclientprotocol/sdk";
import { type AgentClient, AgentError, AgentProcess, type Opened } from "./agent-process.ts";
import { canChange, choiceProblem, NO_OFFER, type Offer } from "./offer.ts";
import type { AcpChoice, AcpSettings } from "./settings.ts";

/** An agent that speaks the Agent Client Protocol (version 1) on its standard input and output. */
export class AcpAgent {
  readonly #settings: AcpSettings;
  readonly #client: AgentClient;
  #choice: AcpChoice;
  #process: AgentProcess | null = null;

  constructor(settings: AcpSettings, agentClient: AgentClient) {
    this.#settings = settings;
    this.#client = agentClient;
    this.#choice = settings.choice;
  }

  /** What it works with. */
  get choice(): AcpChoice {
    return this.#choice;
  }

  /** What it offers to choose from; nothing before it has opened the conversation. */
  get offer(): Offer {
    return this.#process?.offer ?? NO_OFFER;
  }

  /**
   * Changes what the agent works with, between two prompts.
   * @returns false if it has to be started with it instead
   */
  async choose(choice: AcpChoice): Promise<boolean> {
    const running = this.#process;
    if (!running || running.isOver || !canChange(running.offer, this.#choice, choice)) return false;
    const from = this.#choice;
    this.#choice = choice;
    return await running.choose(choice, from).then(
      () => true,
      () => false,
    );
  }

  /**
   * Starts the agent unless it runs, and opens the conversation.
   * @param known the agent's id of the conversation; null: none
   * @throws AgentError
   */
  async open(known: string | null): Promise<Opened> {
    if (this.#process?.isOver) this.#process = null;
    this.#process ??= new AgentProcess(this.#settings, this.#client);
    const opened = await this.#process.open(known, this.#choice);
    const refusal = choiceProblem(this.offer, this.#choice, this.#settings.startEfforts);
    if (refusal !== null) throw new AgentError(refusal);
    return opened;
  }

  /**
   * Sends a prompt, and waits for its end.
   * @param blocks content blocks of the protocol
   * @throws AgentError
   */
  async prompt(id: string, blocks: readonly unknown[]): Promise<unknown> {
    const running = this.#process;
    if (!running) throw new AgentError("The agent has not started.");
    return await running.request(methods.agent.session.prompt, { sessionId: id, prompt: blocks });
  }

  /** Asks the agent to end the run. */
  cancel(id: string): void {
    this.#process?.notify(methods.agent.session.cancel, { sessionId: id });
  }

  /** Kills the agent. The next `open` starts another one. */
  kill(): void {
    this.#process?.kill();
    this.#process = null;
  }
}
