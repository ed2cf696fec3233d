import { join } from "node:path";
import type { AgentChoice, DaemonPrompt } from "../../src/contract/daemon.ts";
import { type ScriptedModel, startModel } from "./model.ts";
import { runtimeEnvironment } from "./runtime.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "./sandbox.ts";
import { until } from "./until.ts";

/** The daemon with the real agent runtime, ready, and the scripted model. */
export interface AgentSandbox extends AsyncDisposable {
  model: ScriptedModel;
  sandbox: Sandbox;
}

/** Reading its list of all providers' models takes opencode a third of the CPU time of its start: this one is empty. */
const WITHOUT_LIST = { OPENCODE_MODELS_PATH: join(import.meta.dir, "no-models.json") };

export async function startAgentSandbox({
  env = {},
  ...options
}: SandboxOptions = {}): Promise<AgentSandbox> {
  const model = await startModel();
  const variables = { ...runtimeEnvironment(model), ...WITHOUT_LIST, ...env };
  const sandbox = await startSandbox({ ...options, env: variables });
  await sandbox.untilHealth("the runtime works", ({ runtime }) => runtime === "ok");
  return {
    model,
    sandbox,
    async [Symbol.asyncDispose]() {
      await sandbox[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

/** Delivers a prompt to the daemon, like the server. @returns its id, once it is accepted */
export async function beginPrompt(sandbox: Sandbox, text: string): Promise<string> {
  const id = crypto.randomUUID();
  await until("it is taken", async () => (await give(sandbox, id, text, false)) !== null);
  return id;
}

/** The outcome of a prompt, which is delivered first if necessary. */
export async function outcomeOf(
  sandbox: Sandbox,
  text: string,
  id: string = crypto.randomUUID(),
  choice?: AgentChoice,
): Promise<DaemonPrompt> {
  let last: DaemonPrompt | null = null;
  await until(
    () => `it is over: ${JSON.stringify(last)}`,
    async () => {
      last = await give(sandbox, id, text, true, choice);
      return last !== null && last.state !== "running";
    },
  );
  if (last === null) throw new Error("no outcome");
  return last;
}

async function give(
  sandbox: Sandbox,
  id: string,
  text: string,
  wait: boolean,
  choice?: AgentChoice,
): Promise<DaemonPrompt | null> {
  const sent = { prompt_id: id, text, wait, ...(choice && { choice }) };
  const answer = await sandbox.call("POST", "/svc/prompt", "platform", sent);
  const body = await answer.json();
  return answer.status === 200 ? body.prompt : null;
}
