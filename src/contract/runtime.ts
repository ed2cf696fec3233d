import type { Agent } from "./agent.ts";

/**
 * The version of opencode that svc is built for. Nothing else in the tree names it: `runtime install`, the images, the
 * plugin packages that are laid into a sandbox, and the tests in CI read it here.
 */
export const RUNTIME_VERSION = "1.18.33";

/** The agents that the runtime brings itself (docs of opencode 1.18, "Agents"). */
export const RUNTIME_AGENTS: readonly Agent[] = [
  ofRuntime("build", "primary", "Works on the code, with every tool."),
  ofRuntime("plan", "primary", "Looks into the code and makes plans, without editing."),
  ofRuntime("explore", "subagent", "Finds its way through the code quickly."),
  ofRuntime("general", "subagent", "Researches, and does tasks of several steps."),
];

function ofRuntime(name: string, mode: Agent["mode"], description: string): Agent {
  return { name, description, mode, source: "runtime" };
}

/**
 * What the runtime says of a run that failed, in words that tell what to do where it has no model: those of opencode
 * name only classes of its own.
 * @param words the runtime's, or the model's
 */
export function explainRun(words: string): string {
  if (!NO_MODEL.test(words)) return words;
  return "The agent has no model to ask. Give the project a provider's key (svc secrets set ANTHROPIC_API_KEY=-), and choose one of its models with svc sessions new --model; an operator can set a model gateway for all sessions.";
}

const NO_MODEL = /\bNo providers are available\b|\bProviderNoProvidersError\b/;
