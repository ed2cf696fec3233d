import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { DaemonEnv } from "../../src/contract/daemon.ts";
import { asAgent, type Command } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import { instructionsFile } from "./home-files.ts";
import { AgentConfigWriteError, agentConfigFolder } from "./write-agent-config.ts";

/** The user name that the runtime expects beside its password. */
const RUNTIME_USER_NAME = "opencode";
/** Provider of the managed model gateway, in the runtime's configuration. */
const GATEWAY = "svc";

/** The runtime's program is not there. The message says what to install. */
export class NotInstalledError extends Error {
  override readonly name = "NotInstalledError";
}

/** What the daemon shows to the runtime to be let in. Others on this machine, who are not in the sandbox, have it not. */
export function authorizationOf(password: string): string {
  return `Basic ${Buffer.from(`${RUNTIME_USER_NAME}:${password}`).toString("base64")}`;
}

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
  const program = await findProgram(settings, environment["PATH"] ?? "");
  const argv = [program, ...serveArguments(settings.runtimePort)];
  return { ...asAgent(settings, argv), environment, directory: settings.workspace, isRuntime: true };
}

/** What the program is started with. */
export function serveArguments(port: number): string[] {
  return ["serve", "--port", String(port), "--hostname", "127.0.0.1"];
}

/** A start that was killed leaves locks, which the next one would wait for (for a minute, each). */
export function clearLocksCommand(settings: Settings): Command {
  const locks = join(settings.home, ".local/state/opencode/locks");
  const environment = { PATH: settings.inherited["PATH"] ?? DEFAULT_PATH };
  return { ...asAgent(settings, ["rm", "-rf", "--", locks]), environment, directory: "/" };
}

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

async function findProgram({ runtimeBin }: Settings, path: string): Promise<string> {
  const found = runtimeBin ?? Bun.which("opencode", { PATH: path }) ?? "/usr/local/bin/opencode";
  const isFile = await stat(found).then(
    (entry) => entry.isFile(),
    () => false,
  );
  if (isFile) return found;
  throw new NotInstalledError(
    `The agent runtime is not installed: there is no program ${found}. An operator installs it with svc-api runtime install; an image with musl has to bring its own.`,
  );
}

/** Why a start failed: the end of a sentence. */
export function startFailure(thrown: unknown): string {
  if (thrown instanceof AgentConfigWriteError) return thrown.message;
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown error";
  return code === "E2BIG" ? "the project's secrets are too large together" : code;
}

/** What the runtime gets, and with it all that the agent runs: everything but the sandbox service key. */
function runtimeEnvironment(
  settings: Settings,
  secrets: DaemonEnv,
  password: string,
): Record<string, string> {
  const { inherited, home, workspace } = settings;
  const key = inherited["SVC_LLM_API_KEY"] || inherited["SVC_YOLO_API_KEY"];
  const base = inherited["SVC_LLM_BASE_URL"] || inherited["SVC_YOLO_URL"];
  const hasGateway = Boolean(key && base);
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
    OPENCODE_CONFIG_DIR: agentConfigFolder(settings),
    OPENCODE_CONFIG_CONTENT: JSON.stringify(platformConfig(settings, hasGateway)),
    OPENCODE_PERMISSION: JSON.stringify({ "*": "allow" }),
    OPENCODE_SERVER_USERNAME: RUNTIME_USER_NAME,
    OPENCODE_SERVER_PASSWORD: password,
    // none of these is in an image or a sandbox for long, and each waits for a network that may not answer
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  };
}

/** Comes after the repository's own configuration, and wins. The key is named, not written. */
function platformConfig(settings: Settings, hasGateway: boolean): Record<string, unknown> {
  const { model } = settings;
  // with the managed gateway, a model without a provider is one of the gateway's
  const isGateways =
    hasGateway && model !== null && (!model.includes("/") || model.startsWith(`${GATEWAY}/`));
  const id = isGateways ? withoutGateway(model) : null;
  // the runtime takes a provider's only model where nobody chooses another
  const offered = id ?? withoutGateway(settings.inherited["SVC_LLM_MODEL"] ?? "");
  return {
    $schema: "https://opencode.ai/config.json",
    share: "disabled",
    autoupdate: false,
    permission: { "*": "allow" },
    instructions: [instructionsFile(settings)],
    ...(model !== null && { model: id === null ? model : `${GATEWAY}/${id}` }),
    ...(id !== null && { small_model: `${GATEWAY}/${id}` }),
    ...(hasGateway && {
      provider: {
        [GATEWAY]: {
          npm: "@ai-sdk/openai-compatible",
          name: "svc",
          options: { baseURL: "{env:SVC_LLM_BASE_URL}", apiKey: "{env:SVC_LLM_API_KEY}" },
          models: offered === "" ? {} : { [offered]: { name: offered, tool_call: true } },
        },
      },
    }),
  };
}

function withoutGateway(model: string): string {
  return model.replace(new RegExp(`^${GATEWAY}/`), "");
}
