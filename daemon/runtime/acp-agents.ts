import { CODEX_LOGIN } from "../../src/contract/codex-login.ts";
import {
  type CustomRuntime,
  DEFAULT_MODE,
  type PermissionMode,
  RUNTIME_PLACEHOLDERS,
  RUNTIMES,
  type RuntimeName,
} from "../../src/contract/runtimes.ts";

/** What is different from agent to agent of the Agent Client Protocol. */
export interface Agent {
  title: string;
  /** Its program in a sandbox: a path, or a name on the PATH. */
  program: string;
  /** How it comes into a sandbox, as a sentence. */
  remedy: string;
  /** The provider of its own models. */
  provider: string;
  /** Its own modes, by those of svc; null: `start` sets what it may do, or it has none. */
  modes: Record<PermissionMode, string | null>;
  /** Efforts that its command sets, also for models that it does not know. */
  startEfforts: readonly string[];
  /** How it is told svc's rules: in its system prompt, with the first prompt, or in a file below the home that it reads. */
  rules: "system-prompt" | "first-prompt" | { file: string };
  /** The folder below the home that it reads skills from; null: none. */
  skills: string | null;
  /** Secrets that are a credential for it, which it uses instead of svc's model gateway. */
  credentials: readonly string[];
  /** The variable of these that is a file which it reads a login from, and the file below the home; null: none. */
  login: { variable: string; file: string } | null;
  start(options: StartOptions): { args: string[]; variables: Record<string, string> };
}

export interface StartOptions {
  /** The model to use, without its provider; null: the agent chooses. */
  model: string | null;
  effort: string | null;
  mode: PermissionMode;
  /** svc's model gateway, for the agent's own protocol; null: a secret is a credential. */
  gateway: { url: string; key: string } | null;
}

/** The paths of the gateway, by the format in which an agent calls models (docs/models.md). */
export const OPENAI_PATH = "/llm/openai/v1";
const ANTHROPIC_PATH = "/llm/anthropic";
export const GATEWAY_KEY = "SVC_LLM_API_KEY";
/** The gateway's provider in a session's model. */
export const GATEWAY = "svc";

const AGENTS: Record<Exclude<RuntimeName, "opencode">, Agent> = {
  "claude-code": {
    title: RUNTIMES["claude-code"].title,
    program: "claude-agent-acp",
    remedy: remedyOf("claude-code", "@agentclientprotocol/claude-agent-acp"),
    provider: "anthropic",
    modes: { ask: "default", "auto-edit": "acceptEdits", full: "bypassPermissions" },
    startEfforts: [],
    rules: "system-prompt",
    skills: ".claude/skills",
    credentials: RUNTIMES["claude-code"].secrets,
    login: null,
    start: ({ model, gateway }) => ({
      args: [],
      variables: {
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        // as root, it refuses to work without asking anywhere else
        IS_SANDBOX: "1",
        ...(model !== null && { ANTHROPIC_MODEL: model, ANTHROPIC_SMALL_FAST_MODEL: model }),
        ...(gateway && {
          ANTHROPIC_BASE_URL: gateway.url.replace(OPENAI_PATH, ANTHROPIC_PATH),
          ANTHROPIC_API_KEY: gateway.key,
        }),
      },
    }),
  },
  codex: {
    title: RUNTIMES.codex.title,
    program: "codex-acp",
    remedy: remedyOf("codex", "@zed-industries/codex-acp"),
    provider: "openai",
    // its modes with restrictions need a sandbox of its own, which cannot be made in svc's
    modes: { ask: null, "auto-edit": null, full: "full-access" },
    startEfforts: RUNTIMES.codex.efforts,
    rules: { file: ".codex/AGENTS.md" },
    skills: ".codex/skills",
    credentials: RUNTIMES.codex.secrets,
    login: { variable: CODEX_LOGIN, file: ".codex/auth.json" },
    start: ({ model, effort, mode, gateway }) => ({
      args: [
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
        "feedback.enabled=false",
        'otel.exporter="none"',
        'otel.metrics_exporter="none"',
        // a sandbox has no keyring
        'cli_auth_credentials_store="file"',
        ...(model === null ? [] : [`model=${JSON.stringify(model)}`]),
        ...(mode === DEFAULT_MODE
          ? []
          : ['approval_policy="untrusted"', 'sandbox_mode="danger-full-access"']),
        ...(effort === null
          ? []
          : [
              `model_reasoning_effort=${JSON.stringify(effort)}`,
              // of a model that it does not know, it would not send the effort
              "model_supports_reasoning_summaries=true",
            ]),
        ...(gateway
          ? [
              `model_provider="${GATEWAY}"`,
              `model_providers.${GATEWAY}.name="${GATEWAY}"`,
              `model_providers.${GATEWAY}.base_url=${JSON.stringify(gateway.url)}`,
              `model_providers.${GATEWAY}.env_key="${GATEWAY_KEY}"`,
              `model_providers.${GATEWAY}.wire_api="responses"`,
            ]
          : []),
      ].flatMap((setting) => ["-c", setting]),
      variables: {},
    }),
  },
};

function remedyOf(name: RuntimeName, npm: string): string {
  return `The operator can install it with svc-api runtime install ${name}; an image with musl, and one on Kubernetes, must contain it: RUN npm install --global ${npm}.`;
}

/** An agent that the operator describes. */
function customAgent({
  title,
  command,
  environment,
  mode,
  rulesFile,
  skills,
  secrets,
}: CustomRuntime): Agent {
  const [program = "", ...args] = command;
  return {
    title,
    program,
    remedy: "The image must contain it, or the operator can correct SVC_RUNTIMES_FILE.",
    provider: GATEWAY,
    // it may have modes that are called like svc's
    modes: { ask: "ask", "auto-edit": "auto-edit", full: mode },
    startEfforts: [],
    rules: rulesFile === null ? "first-prompt" : { file: rulesFile },
    skills,
    credentials: secrets,
    login: null,
    start({ model, gateway }) {
      const values: Record<(typeof RUNTIME_PLACEHOLDERS)[number], string | null> = {
        model,
        openai_url: gateway?.url ?? null,
        anthropic_url: gateway?.url.replace(OPENAI_PATH, ANTHROPIC_PATH) ?? null,
        key: gateway?.key ?? null,
      };
      const isSet = (text: string) =>
        RUNTIME_PLACEHOLDERS.every((name) => values[name] !== null || !text.includes(`{${name}}`));
      const filled = (text: string) =>
        RUNTIME_PLACEHOLDERS.reduce(
          (all, name) => all.replaceAll(`{${name}}`, () => values[name] ?? ""),
          text,
        );
      const set = Object.entries(environment).filter(([, text]) => isSet(text));
      return { args, variables: Object.fromEntries(set.map(([name, text]) => [name, filled(text)])) };
    },
  };
}

/** An agent of the Agent Client Protocol: one that svc knows, or one that the operator describes. */
export type AcpRuntime = keyof typeof AGENTS | CustomRuntime;

export function agentOf(runtime: AcpRuntime): Agent {
  return typeof runtime === "string" ? AGENTS[runtime] : customAgent(runtime);
}
