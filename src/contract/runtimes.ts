/** An agent that svc can run in a session. */
export interface RuntimeKind {
  /** The name for people. */
  title: string;
  /** The format in which it calls models by default. */
  modelFormat: "openai" | "anthropic";
}

/** The agents that svc knows. The first one is the default. */
export const RUNTIMES = {
  opencode: { title: "opencode", modelFormat: "openai" },
  "claude-code": { title: "Claude Code", modelFormat: "anthropic" },
  codex: { title: "Codex", modelFormat: "openai" },
} as const satisfies Record<string, RuntimeKind>;

export type RuntimeName = keyof typeof RUNTIMES;

export const DEFAULT_RUNTIME: RuntimeName = "opencode";

export const RUNTIME_NAMES: readonly RuntimeName[] = Object.keys(RUNTIMES).filter(isRuntimeName);

export function isRuntimeName(name: string): name is RuntimeName {
  return Object.hasOwn(RUNTIMES, name);
}
