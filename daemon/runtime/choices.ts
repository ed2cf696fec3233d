import type { RuntimeChoices } from "../../src/contract/daemon.ts";
import { arrayOf, field, isObject, textField } from "../../src/contract/json.ts";
import { PERMISSION_MODES } from "../../src/contract/runtimes.ts";
import type { Settings } from "../settings.ts";
import type { AcpRuntime } from "./acp-agents.ts";
import type { RuntimeCall } from "./call.ts";
import { modelsFrom, modesAmong } from "./describe-agent.ts";
import { GATEWAY, hasGateway } from "./launch.ts";

/** A cold agent starts, and opens its conversation, before it knows them. */
const CALL_MS = 120_000;
/** Models of all providers, and agents. */
const MODELS_MAX = 500;
const AGENTS_MAX = 200;
const TEXT_MAX = 200;
const DESCRIPTION_MAX = 500;

/**
 * Reads what the runtime offers to choose from.
 * @param secrets of the project
 * @returns null if it does not respond
 */
export async function readChoices(
  settings: Settings,
  secrets: Readonly<Record<string, string>>,
  call: RuntimeCall,
): Promise<RuntimeChoices | null> {
  const get = async (path: string): Promise<unknown> => {
    const answer = await call("GET", path, CALL_MS).catch(() => null);
    return answer?.status === 200 ? answer.body : null;
  };
  return settings.runtime === "opencode"
    ? await ofOpencode(settings, get)
    : await ofAgent(settings.runtime, { ...settings.inherited, ...secrets }, get);
}

type Get = (path: string) => Promise<unknown>;

async function ofOpencode(settings: Settings, get: Get): Promise<RuntimeChoices | null> {
  const [providers, agents] = await Promise.all([get("/config/providers"), get("/agent")]);
  if (!isObject(providers) || !Array.isArray(agents)) return null;
  const others = arrayOf(field(providers, "providers")).filter((each) => textField(each, "id") !== GATEWAY);
  return {
    models: others.flatMap(modelsOf).slice(0, MODELS_MAX),
    gateway: hasGateway(settings),
    agents: agents
      .filter((agent) => textField(agent, "mode") !== "subagent" && field(agent, "hidden") !== true)
      .slice(0, AGENTS_MAX)
      .map((agent) => ({
        name: textField(agent, "name").slice(0, TEXT_MAX),
        description: textField(agent, "description").slice(0, DESCRIPTION_MAX) || null,
      })),
    modes: [...PERMISSION_MODES],
  };
}

/** The models of one of opencode's providers, each with its variants, which are its efforts. */
function modelsOf(provider: unknown): RuntimeChoices["models"] {
  const models = field(provider, "models");
  return Object.entries(isObject(models) ? models : {}).map(([id, model]) => {
    const variants = field(model, "variants");
    return {
      id: `${textField(provider, "id")}/${id}`.slice(0, TEXT_MAX),
      name: (textField(model, "name") || id).slice(0, TEXT_MAX),
      efforts: Object.keys(isObject(variants) ? variants : {}).slice(0, AGENTS_MAX),
    };
  });
}

/** An agent names the efforts of the model that it works with; svc assumes those for all of its models. */
async function ofAgent(
  runtime: AcpRuntime,
  environment: Readonly<Record<string, string>>,
  get: Get,
): Promise<RuntimeChoices | null> {
  const offer = await get("/config/choices");
  if (!isObject(offer)) return null;
  const { provider, isGateway } = modelsFrom(runtime, environment);
  const efforts = arrayOf(offer["efforts"]).filter((each) => typeof each === "string");
  const models = arrayOf(offer["models"]).map((model) => ({
    id: `${provider}/${textField(model, "value")}`,
    name: textField(model, "name"),
    efforts,
  }));
  return {
    // its own names may be unknown to the gateway
    models: isGateway ? [] : models,
    gateway: isGateway,
    agents: [],
    modes: modesAmong(
      runtime,
      arrayOf(offer["modes"]).map((mode) => textField(mode, "value")),
    ),
  };
}
