import { extname, join } from "node:path";
import { EXECUTOR_PATH } from "../../src/contract/executor.ts";
import { DEFAULT_MODE, PERMISSION_MODES, type PermissionMode } from "../../src/contract/runtimes.ts";
import type { AcpChoice, AcpDescription } from "../acp/settings.ts";
import { JOURNAL } from "../record/paths.ts";
import type { Settings } from "../settings.ts";
import {
  type AcpRuntime,
  type Agent,
  agentOf,
  GATEWAY,
  GATEWAY_KEY,
  OPENAI_PATH,
  type StartOptions,
} from "./acp-agents.ts";
import { skillsFolder } from "./home-files.ts";
import instructions from "./instructions.md" with { type: "text" };
import { isFile, NotInstalledError } from "./not-installed.ts";
import { agentConfigFolder } from "./write-agent-config.ts";

/**
 * What svc's adapter has to know of an agent of the Agent Client Protocol: `AcpDescription` as JSON.
 * @param environment that of the runtime
 * @throws NotInstalledError
 */
export async function describeAgent(
  settings: Settings,
  runtime: AcpRuntime,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const agent = agentOf(runtime);
  const { home, workspace } = settings;
  const program = await findAgent(settings, agent, environment["PATH"] ?? "");
  const choice = agentChoice(settings, runtime);
  const started = agent.start({
    model: choice.model?.modelID ?? null,
    effort: choice.effort,
    mode: settings.mode,
    gateway: gatewayOf(agent, environment),
  });
  const token = environment["SVC_EXECUTOR_TOKEN"];
  const description: AcpDescription = {
    command: [...commandOf(program), ...started.args],
    variables: { ...started.variables, ...(extname(program) === ".js" && AS_BUN) },
    workspace,
    journal: join(home, JOURNAL),
    choice,
    login: loginOf(settings),
    startEfforts: agent.startEfforts,
    rules: {
      text: instructions,
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

/** What the agent works with, in its own words. */
export function agentChoice(
  settings: Pick<Settings, "model" | "mode" | "effort" | "inherited">,
  runtime: AcpRuntime,
): AcpChoice {
  const { mode, effort } = settings;
  const agent = agentOf(runtime);
  const own = agent.modes[mode];
  return {
    mode: own,
    isModeRequired: mode !== DEFAULT_MODE,
    allowsEdits: mode === "auto-edit" && own === null,
    model: modelOf(settings, agent),
    effort,
  };
}

/** The secret that is a file with a login of the agent, and the file; null: it has none. */
export function loginOf({ home, runtime }: Pick<Settings, "home" | "runtime">): AcpDescription["login"] {
  const login = runtime === "opencode" ? null : agentOf(runtime).login;
  return login && { ...login, file: join(home, login.file) };
}

/** svc's modes among those that the agent offers. */
export function modesAmong(runtime: AcpRuntime, offered: readonly string[]): PermissionMode[] {
  const { modes } = agentOf(runtime);
  return PERMISSION_MODES.filter((mode) => {
    const own = modes[mode];
    // one that has no modes works as it does
    return mode === DEFAULT_MODE || own === null || offered.includes(own);
  });
}

/** The provider of the agent's own models, and whether it calls those of the gateway instead. */
export function modelsFrom(
  runtime: AcpRuntime,
  environment: Readonly<Record<string, string | undefined>>,
): { provider: string; isGateway: boolean } {
  const agent = agentOf(runtime);
  return { provider: agent.provider, isGateway: gatewayOf(agent, environment) !== null };
}

/** svc's own gateway, which speaks the protocols of all agents; one of the operator's speaks OpenAI's chat only. */
function gatewayOf(
  { credentials }: Agent,
  environment: Readonly<Record<string, string | undefined>>,
): StartOptions["gateway"] {
  const [url, key] = [environment["SVC_LLM_BASE_URL"] ?? "", environment[GATEWAY_KEY] ?? ""];
  if (!url.endsWith(OPENAI_PATH) || key === "" || credentials.some((name) => environment[name])) return null;
  return { url, key };
}

function modelOf(
  { model, inherited }: Pick<Settings, "model" | "inherited">,
  { provider }: Agent,
): AcpChoice["model"] {
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
