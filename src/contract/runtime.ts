import type { Agent } from "./agent.ts";

/**
 * The version of opencode that svc is built for. Everything else reads it from here: `runtime install`, the images, the
 * plugin packages in a sandbox, and the tests in CI.
 */
export const RUNTIME_VERSION = "1.18.33";

/** The agents that are built into the runtime (docs of opencode 1.18, "Agents"). */
export const RUNTIME_AGENTS: readonly Agent[] = [
  ofRuntime("build", "primary", "Works on the code, with every tool."),
  ofRuntime("plan", "primary", "Reads the code and makes plans, without editing."),
  ofRuntime("explore", "subagent", "Explores the code quickly."),
  ofRuntime("general", "subagent", "Researches, and runs tasks of several steps."),
];

function ofRuntime(name: string, mode: Agent["mode"], description: string): Agent {
  return { name, description, mode, source: "runtime" };
}

/**
 * The error of a failed run. If the runtime has no model, explains what to do, because the message of opencode names only
 * internal classes.
 * @param words the message of the runtime or the model
 */
export function explainRun(words: string): string {
  if (!NO_MODEL.test(words)) return words;
  return "The agent has no model. Set the key of a provider (svc secrets set ANTHROPIC_API_KEY=-) and choose one of its models with svc sessions new --model, or ask the operator to configure a model gateway for all sessions.";
}

const NO_MODEL = /\bNo providers are available\b|\bProviderNoProvidersError\b/;
