import { join } from "node:path";
import type { DaemonEnv } from "../../src/contract/daemon.ts";
import { EXECUTOR_PATH } from "../../src/contract/executor.ts";
import type { PermissionMode } from "../../src/contract/runtimes.ts";
import { ACP_VARIABLE } from "../acp/settings.ts";
import { asAgent, type Command } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import { thisProgram } from "../this-program.ts";
import { RUNTIME_USER_NAME } from "./authorization.ts";
import { describeAgent } from "./describe-agent.ts";
import { instructionsFile } from "./home-files.ts";
import { isFile, NotInstalledError } from "./not-installed.ts";
import { AgentConfigWriteError, agentConfigFolder } from "./write-agent-config.ts";

/** The provider of the managed model gateway in the runtime's configuration. */
export const GATEWAY = "svc";
/** svc's tools in the runtime's configuration: a prefix of their names. */
const TOOLS = "svc";
/**
 * The runtime's time limit of a tool, which may be one of a connector that waits for a person; of the list of tools, too,
 * which it reads before the first prompt.
 */
const TOOL_MS = 60_000;

/**
 * The command that starts the runtime.
 * @throws NotInstalledError
 */
export async function launchCommand(
  settings: Settings,
  secrets: DaemonEnv,
  password: string,
): Promise<Command> {
  const environment = runtimeEnvironment(settings, secrets, password);
  const argv = [...(await startOf(settings, environment)), ...serveArguments(settings.runtimePort)];
  return { ...asAgent(settings, argv), environment, directory: settings.workspace, isRuntime: true };
}

/** The runtime's program; for an agent of the Agent Client Protocol, svc's adapter, with what it needs in `environment`. */
async function startOf(settings: Settings, environment: Record<string, string>): Promise<string[]> {
  const { runtime } = settings;
  const path = environment["PATH"] ?? "";
  if (runtime === "opencode") return [await findProgram(settings, path)];
  environment[ACP_VARIABLE] = await describeAgent(settings, runtime, environment);
  return [...thisProgram(), "acp"];
}

/** The arguments of the runtime's program. */
export function serveArguments(port: number): string[] {
  return ["serve", "--port", String(port), "--hostname", "127.0.0.1"];
}

/** Removes the locks of a killed start: the next start would wait a minute for each. */
export function clearLocksCommand(settings: Settings): Command {
  const locks = join(settings.home, ".local/state/opencode/locks");
  const environment = { PATH: settings.inherited["PATH"] ?? DEFAULT_PATH };
  return { ...asAgent(settings, ["rm", "-rf", "--", locks]), environment, directory: "/" };
}

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

async function findProgram({ runtimeBin }: Settings, path: string): Promise<string> {
  const found = runtimeBin ?? Bun.which("opencode", { PATH: path }) ?? "/usr/local/bin/opencode";
  if (await isFile(found)) return found;
  throw new NotInstalledError(
    `The agent runtime is not installed: ${found} does not exist. The operator can install it with svc-api runtime install; an image with musl must contain its own.`,
  );
}

/** Why a start failed, as the end of a sentence. */
export function startFailure(thrown: unknown): string {
  if (thrown instanceof AgentConfigWriteError) return thrown.message;
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown error";
  return code === "E2BIG" ? "the project's secrets are too large in total" : code;
}

/** The environment of every program of the agent, and of people: it does not contain the sandbox service key. */
export function agentEnvironment(settings: Settings, secrets: DaemonEnv): Record<string, string> {
  const { inherited, home, workspace } = settings;
  const { key, base } = gatewayAccess(settings);
  return {
    ...inherited,
    ...secrets.env,
    PATH: inherited["PATH"] ?? DEFAULT_PATH,
    HOME: home,
    PWD: workspace,
    SVC_WORKSPACE: workspace,
    SVC_PROJECT_SECRET_NAMES: Object.keys(secrets.env).join(","),
    SVC_PROJECT_SECRETS_REVISION: secrets.revision,
    ...(key && base && { SVC_LLM_API_KEY: key, SVC_LLM_BASE_URL: base }),
  };
}

function runtimeEnvironment(
  settings: Settings,
  secrets: DaemonEnv,
  password: string,
): Record<string, string> {
  return {
    ...agentEnvironment(settings, secrets),
    OPENCODE_CONFIG_DIR: agentConfigFolder(settings),
    OPENCODE_CONFIG_CONTENT: JSON.stringify(platformConfig(settings)),
    OPENCODE_PERMISSION: JSON.stringify(PERMISSIONS[settings.mode]),
    OPENCODE_SERVER_USERNAME: RUNTIME_USER_NAME,
    OPENCODE_SERVER_PASSWORD: password,
    // each of these downloads at a start, and hangs in a sandbox without a network
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  };
}

/** The address and the key of the managed model gateway, or of one of the operator's. */
function gatewayAccess({ inherited }: Pick<Settings, "inherited">) {
  return {
    key: inherited["SVC_LLM_API_KEY"] || inherited["SVC_YOLO_API_KEY"],
    base: inherited["SVC_LLM_BASE_URL"] || inherited["SVC_YOLO_URL"],
  };
}

export function hasGateway(settings: Pick<Settings, "inherited">): boolean {
  const { key, base } = gatewayAccess(settings);
  return Boolean(key && base);
}

/** The chosen model, if it is the gateway's, as one without a provider is; null: another's, or none. */
export function gatewayModel(settings: Pick<Settings, "model" | "inherited">): string | null {
  const { model } = settings;
  const isGateways = model !== null && (!model.includes("/") || model.startsWith(`${GATEWAY}/`));
  return isGateways && hasGateway(settings) ? withoutGateway(model) : null;
}

/**
 * What opencode asks for in each mode: a later rule overrides an earlier one. Reading is always allowed, and a subagent is
 * asked for what it does itself.
 */
const READING = Object.fromEntries(
  ["read", "glob", "grep", "list", "lsp", "skill", "task", "todowrite", "todoread", "question"].map(
    (tool) => [tool, "allow"] as const,
  ),
);
const PERMISSIONS: Record<PermissionMode, Record<string, "allow" | "ask">> = {
  ask: { "*": "ask", ...READING },
  "auto-edit": { "*": "ask", ...READING, edit: "allow" },
  full: { "*": "allow" },
};

/** Overrides the repository's own configuration. It names the variables of keys, not the keys. */
function platformConfig(settings: Settings): Record<string, unknown> {
  const { model, mode, effort } = settings;
  const id = gatewayModel(settings);
  // the runtime uses a provider's only model unless another is chosen
  const offered = id ?? withoutGateway(settings.inherited["SVC_LLM_MODEL"] ?? "");
  return {
    $schema: "https://opencode.ai/config.json",
    share: "disabled",
    autoupdate: false,
    permission: PERMISSIONS[mode],
    instructions: [instructionsFile(settings)],
    ...(settings.inherited["SVC_EXECUTOR_TOKEN"] && { mcp: { [TOOLS]: executor() } }),
    ...(model !== null && { model: id === null ? model : `${GATEWAY}/${id}` }),
    ...(id !== null && { small_model: `${GATEWAY}/${id}` }),
    ...(hasGateway(settings) && {
      provider: {
        [GATEWAY]: {
          npm: "@ai-sdk/openai-compatible",
          name: "svc",
          options: { baseURL: "{env:SVC_LLM_BASE_URL}", apiKey: "{env:SVC_LLM_API_KEY}" },
          models:
            offered === "" ? {} : { [offered]: { name: offered, ...CAPABILITIES, ...effortOf(effort) } },
        },
      },
    }),
  };
}

/** The runtime does not know the models of the gateway. One that accepts no images refuses them itself. */
const CAPABILITIES = {
  tool_call: true,
  attachment: true,
  modalities: { input: ["text", "image", "pdf"], output: ["text"] },
};

/** Only the chosen one: the runtime uses the lowest of several for titles, with models that may not think at all. */
function effortOf(effort: string | null): Record<string, unknown> {
  return effort === null ? {} : { variants: { [effort]: { reasoningEffort: effort } } };
}

/** svc's own MCP endpoint, with the token of the session. */
function executor(): Record<string, unknown> {
  return {
    type: "remote",
    url: `{env:SVC_API_URL}${EXECUTOR_PATH}`,
    headers: { Authorization: "Bearer {env:SVC_EXECUTOR_TOKEN}" },
    oauth: false,
    enabled: true,
    timeout: TOOL_MS,
  };
}

function withoutGateway(model: string): string {
  return model.replace(new RegExp(`^${GATEWAY}/`), "");
}
