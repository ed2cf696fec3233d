import { type ScriptedModel, startModel } from "./model.ts";
import { runtimeEnvironment } from "./runtime.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "./sandbox.ts";

/** The daemon with the real agent runtime, which works, and a model that does what its prompts say. */
export interface AgentSandbox extends AsyncDisposable {
  model: ScriptedModel;
  sandbox: Sandbox;
}

export async function startAgentSandbox({
  env = {},
  ...options
}: SandboxOptions = {}): Promise<AgentSandbox> {
  const model = await startModel();
  const sandbox = await startSandbox({ ...options, env: { ...runtimeEnvironment(model), ...env } });
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
