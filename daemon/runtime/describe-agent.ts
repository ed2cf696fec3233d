import { extname, join } from "node:path";
import { EXECUTOR_PATH } from "../../src/contract/executor.ts";
import {
  type CustomRuntime,
  RUNTIME_PLACEHOLDERS,
  RUNTIMES,
  type RuntimeName,
} from "../../src/contract/runtimes.ts";
import type { AcpDescription } from "../acp/settings.ts";
import type { Settings } from "../settings.ts";
import { rulesOf, skillsFolder } from "./home-files.ts";
import { isFile, NotInstalledError } from "./not-installed.ts";
import { agentConfigFolder } from "./write-agent-config.ts";

/** What is different from agent to agent of the Agent Client Protocol. */
interface Agent {
  title: string;
  /** Its program in a sandbox: a path, or a name on the PATH. */
  program: string;
  /** How it comes into a sandbox, as a sentence. */
  remedy: string;
  /** The provider of its own models. */
  provider: string;
  /** The mode in which it does not ask for permission. */
  mode: string | null;
  /** How it is told svc's rules: in its system prompt, with the first prompt, or in a file below the home that it reads. */
  rules: "system-prompt" | "first-prompt" | { file: string };
  /** The folder below the home that it reads skills from; null: none. */
  skills: string | null;
  /** Variables with which the project gives it a credential of its own, instead of svc's model gateway. */
  credentials: readonly string[];
  start(options: StartOptions): { args: string[]; variables: Record<string, string> };
}

interface StartOptions {
  /** The model to use, without its provider; null: the agent chooses. */
  model: string | null;
  /** svc's model gateway, for the agent's own protocol; null: the project has a credential. */
  gateway: { url: string; key: string } | null;
}

/** The paths of the gateway, by the format in which an agent calls models (docs/models.md). */
const OPENAI_PATH = "/llm/openai/v1";
const ANTHROPIC_PATH = "/llm/anthropic";
const GATEWAY_KEY = "SVC_LLM_API_KEY";
/** The gateway's provider in a session's model. */
const GATEWAY = "svc";

const AGENTS: Record<Exclude<RuntimeName, "opencode">, Agent> = {
  "claude-code": {
    title: RUNTIMES["claude-code"].title,
    program: "claude-agent-acp",
    remedy: remedyOf("claude-code", "@agentclientprotocol/claude-agent-acp"),
    provider: "anthropic",
    mode: "bypassPermissions",
    rules: "system-prompt",
    skills: ".claude/skills",
    credentials: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
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
    mode: "full-access",
    rules: { file: ".codex/AGENTS.md" },
    skills: ".codex/skills",
    credentials: ["OPENAI_API_KEY", "CODEX_API_KEY"],
    start: ({ model, gateway }) => ({
      args: [
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
        "feedback.enabled=false",
        'otel.exporter="none"',
        'otel.metrics_exporter="none"',
        ...(model === null ? [] : [`model=${JSON.stringify(model)}`]),
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
    mode,
    rules: rulesFile === null ? "first-prompt" : { file: rulesFile },
    skills,
    credentials: secrets,
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

/**
 * What svc's adapter has to know of an agent of the Agent Client Protocol: `AcpDescription` as JSON.
 * @param environment that of the runtime
 * @throws NotInstalledError
 */
export async function describeAgent(
  settings: Settings,
  runtime: keyof typeof AGENTS | CustomRuntime,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const agent = typeof runtime === "string" ? AGENTS[runtime] : customAgent(runtime);
  const { home, workspace } = settings;
  const program = await findAgent(settings, agent, environment["PATH"] ?? "");
  const model = modelOf(settings, agent);
  const started = agent.start({ model: model?.modelID ?? null, gateway: gatewayOf(agent, environment) });
  const token = environment["SVC_EXECUTOR_TOKEN"];
  const description: AcpDescription = {
    command: [...commandOf(program), ...started.args],
    variables: { ...started.variables, ...(extname(program) === ".js" && AS_BUN) },
    workspace,
    journal: join(home, ".local/share/svc/conversation.jsonl"),
    mode: agent.mode,
    model,
    rules: {
      text: rulesOf(settings),
      in: typeof agent.rules === "string" ? agent.rules : { file: join(home, agent.rules.file) },
    },
    skills:
      agent.skills === null
        ? null
        : {
            to: join(home, agent.skills),
            from: [skillsFolder(settings), join(agentConfigFolder(settings), "skills")],
          },
    tools: token
      ? {
          type: "http",
          name: GATEWAY,
          url: `${environment["SVC_API_URL"] ?? ""}${EXECUTOR_PATH}`,
          headers: [{ name: "Authorization", value: `Bearer ${token}` }],
        }
      : null,
  };
  return JSON.stringify(description);
}

/** svc's own gateway, which speaks the protocols of all agents; one of the operator's speaks OpenAI's chat only. */
function gatewayOf(
  { credentials }: Agent,
  environment: Readonly<Record<string, string>>,
): StartOptions["gateway"] {
  const [url, key] = [environment["SVC_LLM_BASE_URL"] ?? "", environment[GATEWAY_KEY] ?? ""];
  if (!url.endsWith(OPENAI_PATH) || key === "" || credentials.some((name) => environment[name])) return null;
  return { url, key };
}

function modelOf({ model, inherited }: Settings, { provider }: Agent): AcpDescription["model"] {
  const chosen = model || inherited["SVC_LLM_MODEL"] || null;
  if (chosen === null) return null;
  const [, of, id] = /^([^/]+)\/(.+)$/.exec(chosen) ?? [];
  // a model without a provider, or of the gateway, may have slashes in its name
  const isPrefixed = of === GATEWAY || of === provider;
  return {
    providerID: isPrefixed && of !== undefined ? of : GATEWAY,
    modelID: isPrefixed && id !== undefined ? id : chosen,
  };
}

async function findAgent(
  { runtimeBin }: Settings,
  { title, program, remedy }: Agent,
  path: string,
): Promise<string> {
  const found = runtimeBin ?? Bun.which(program, { PATH: path });
  if (found !== null && (await isFile(found))) return found;
  throw new NotInstalledError(`${title} is not in this sandbox. ${remedy}`);
}

/** svc-agent is a Bun, which runs JavaScript with this variable. The programs that the agent starts must not inherit it. */
const AS_BUN = { BUN_BE_BUN: "1" };

function commandOf(program: string): string[] {
  if (extname(program) !== ".js") return [program];
  return [process.execPath, "-e", `delete process.env.BUN_BE_BUN; await import(${JSON.stringify(program)})`];
}
