import { CODEX_LOGIN } from "./codex-login.ts";

/** An agent that svc can run in a session. */
export interface RuntimeKind {
  /** The name for people. */
  title: string;
  /** The format in which it calls models by default. */
  modelFormat: "openai" | "anthropic";
  /** Secrets with which a project, or the person who starts a session, gives it a key, instead of svc's model gateway. */
  secrets: readonly string[];
}

/** An agent that svc knows. */
interface KnownRuntime extends RuntimeKind {
  /** The reasoning efforts of models of the gateway, as far as they have any. */
  efforts: readonly string[];
}

/** How much an agent may do without asking a person, the strictest first. */
export const PERMISSION_MODES = ["ask", "auto-edit", "full"] as const;
export type PermissionMode = (typeof PERMISSION_MODES)[number];
/** What a sandbox isolates needs no permission. */
export const DEFAULT_MODE: PermissionMode = "full";

export function isPermissionMode(text: string): text is PermissionMode {
  return PERMISSION_MODES.some((mode) => mode === text);
}

/** An agent of the Agent Client Protocol that an operator describes (docs/runtime.md). */
export interface CustomRuntime extends RuntimeKind {
  name: string;
  /** The program and its arguments. The program is a path in `folder`; without one, a path in sandboxes, or a name on their PATH. */
  command: readonly string[];
  /** The folder of the server that svc mounts or copies into sandboxes; null: sandboxes have the program. */
  folder: string | null;
  /** Variables of the agent, with placeholders: `RUNTIME_PLACEHOLDERS`. */
  environment: Readonly<Record<string, string>>;
  /** The mode in which it does not ask for permission; null: it has none. */
  mode: string | null;
  /** A file below the home that it reads rules from; null: svc's rules are sent with the first prompt. */
  rulesFile: string | null;
  /** A folder below the home that it reads skills from. */
  skills: string | null;
  /** Files and folders below the home in which it records its conversations. */
  records: readonly string[];
}

/** In `environment` of a custom runtime: the model, and svc's gateway. A variable whose placeholder has no value is not set. */
export const RUNTIME_PLACEHOLDERS = ["model", "openai_url", "anthropic_url", "key"] as const;

/** The name of an agent: a pattern. */
export const RUNTIME_NAME = "^[a-z][a-z0-9-]{0,31}$";

/** The agents that svc knows. The first one is the default. */
export const RUNTIMES = {
  // any provider's: which one is decided by the model
  opencode: { title: "opencode", modelFormat: "openai", secrets: [], efforts: ["low", "medium", "high"] },
  "claude-code": {
    title: "Claude Code",
    modelFormat: "anthropic",
    secrets: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    efforts: ["low", "medium", "high", "xhigh", "max"],
  },
  codex: {
    title: "Codex",
    modelFormat: "openai",
    secrets: ["OPENAI_API_KEY", "CODEX_API_KEY", CODEX_LOGIN],
    efforts: ["low", "medium", "high", "xhigh"],
  },
} as const satisfies Record<string, KnownRuntime>;

export type RuntimeName = keyof typeof RUNTIMES;

export const DEFAULT_RUNTIME: RuntimeName = "opencode";

export const RUNTIME_NAMES: readonly RuntimeName[] = Object.keys(RUNTIMES).filter(isRuntimeName);

/** The title and the format of an agent; null if svc does not know it. */
export function runtimeKind(name: string, custom: readonly CustomRuntime[]): RuntimeKind | null {
  return isRuntimeName(name) ? RUNTIMES[name] : (custom.find((each) => each.name === name) ?? null);
}

/** Why an agent cannot be used, as a sentence that names those that can. */
export function unknownRuntime(name: string, custom: readonly CustomRuntime[]): string {
  const known = [...RUNTIME_NAMES, ...custom.map((each) => each.name)];
  return `This server has no agent "${name}". It has: ${known.join(", ")}.`;
}

export function isRuntimeName(name: string): name is RuntimeName {
  return Object.hasOwn(RUNTIMES, name);
}
