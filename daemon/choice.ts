import type { AgentChoice } from "../src/contract/daemon.ts";
import type { RunActivity } from "./activity.ts";
import { runningSessions } from "./runtime/abort.ts";
import { agentChoice } from "./runtime/describe-agent.ts";
import { gatewayModel } from "./runtime/launch.ts";
import type { Runtime } from "./runtime/runtime.ts";
import type { Settings } from "./settings.ts";

interface Context {
  settings: Settings;
  activity: Pick<RunActivity, "isRunExpected" | "whileEnding">;
  /** Read when it is needed: the runtime reads the choice itself. */
  runtime(): Pick<Runtime, "state" | "call" | "restart">;
}

/** For the agent to change its settings, one by one. */
const CHANGE_MS = 120_000;
/** For the runtime to restart. */
const RESTART_MS = 60_000;
const POLL_MS = 50;

/**
 * What the agent works with. A change applies to the next prompt: the runtime gets it once no run is under way, by a
 * request if it can change while it runs, else by a restart, after which it continues its conversation.
 */
export class Choosing {
  readonly #context: Context;
  #wanted: AgentChoice;
  /** What the runtime works with. */
  #applied: AgentChoice;
  #applying: Promise<void> = Promise.resolve();

  constructor(context: Context) {
    this.#context = context;
    const { model, agent, mode, effort } = context.settings;
    this.#wanted = { model, agent, mode, effort };
    this.#applied = this.#wanted;
  }

  get current(): AgentChoice {
    return this.#wanted;
  }

  /** The choice with which the runtime is started now. */
  atStart(): AgentChoice {
    this.#applied = this.#wanted;
    return this.#wanted;
  }

  get isPending(): boolean {
    return !Bun.deepEquals(this.#wanted, this.#applied);
  }

  /** Takes a choice, and applies it unless a run is under way or may begin at any moment. */
  async choose(choice: AgentChoice): Promise<void> {
    this.#wanted = choice;
    if (!this.#context.activity.isRunExpected) await this.apply();
  }

  /** Gives the runtime the choice, unless a run is under way. */
  async apply(): Promise<void> {
    const turn = this.#applying.then(() => this.#apply());
    this.#applying = turn.catch(() => {});
    await turn;
  }

  async #apply(): Promise<void> {
    const runtime = this.#context.runtime();
    if (!this.isPending || runtime.state !== "ok") return;
    if ((await runningSessions(runtime.call))?.length !== 0) return;
    const wanted = this.#wanted;
    if (await this.#change(wanted)) this.#applied = wanted;
    else await this.#restart();
  }

  /** @returns whether the running runtime works with it */
  async #change(to: AgentChoice): Promise<boolean> {
    const { settings } = this.#context;
    const { call } = this.#context.runtime();
    if (settings.runtime !== "opencode") {
      const body = agentChoice({ ...settings, ...to }, settings.runtime);
      const answer = await call("POST", "/config/choice", CHANGE_MS, body).catch(() => null);
      return answer?.body === true;
    }
    // all else is part of each prompt
    const { mode, model, effort } = this.#applied;
    const isSameModel = model === to.model && effort === to.effort;
    return mode === to.mode && (isSameModel || gatewayModel({ ...settings, ...to }) === null);
  }

  async #restart(): Promise<void> {
    const { activity } = this.#context;
    const runtime = this.#context.runtime();
    await activity.whileEnding(() => runtime.restart());
    const deadline = performance.now() + RESTART_MS;
    while (runtime.state !== "ok" && performance.now() < deadline) await Bun.sleep(POLL_MS);
  }
}
