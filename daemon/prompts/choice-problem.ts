import { modelOf } from "../../src/contract/conversation.ts";
import type { AgentChoice } from "../../src/contract/daemon.ts";
import { arrayOf, field } from "../../src/contract/json.ts";
import type { RuntimeCall } from "../runtime/call.ts";
import { GATEWAY } from "../runtime/launch.ts";
import type { Settings } from "../settings.ts";

/** A cold runtime reads its agents and plugins first. */
const CALL_MS = 30_000;
/** Models that an error lists. */
const SHOWN_MAX = 20;

/**
 * Why the runtime cannot work as chosen, as a sentence; null if it can, as far as that is known. An agent of the Agent
 * Client Protocol says so itself.
 */
export async function choiceProblem(
  runtime: Settings["runtime"],
  { agent, model }: AgentChoice,
  call: RuntimeCall,
): Promise<string | null> {
  if (runtime !== "opencode") return null;
  if (agent !== null && (await hasAgent(call, agent)) === false)
    return `The project has no agent "${agent}". Its agents are files in agents/ of its configuration folder.`;
  const { model: named } = modelOf(model);
  if (!named || named.providerID === GATEWAY) return null;
  const known = await modelsOf(call, named.providerID);
  if (known === null || known.includes(named.modelID)) return null;
  if (known.length === 0)
    return `The agent runtime has no provider "${named.providerID}" for the model ${model}. Set the provider's key with svc secrets set, or choose another model with svc sessions edit --model.`;
  const more = known.length > SHOWN_MAX ? ` and ${known.length - SHOWN_MAX} more` : "";
  return `The provider ${named.providerID} has no model "${named.modelID}". Available: ${known.slice(0, SHOWN_MAX).join(", ")}${more}. Choose one with svc sessions edit --model.`;
}

/** Null if the runtime does not respond: the prompt's own request reports that. */
async function hasAgent(call: RuntimeCall, agent: string): Promise<boolean | null> {
  const answer = await call("GET", "/agent", CALL_MS).catch(() => null);
  if (answer?.status !== 200 || !Array.isArray(answer.body)) return null;
  return answer.body.some((entry) => field(entry, "name") === agent);
}

/** The names of a provider's models; empty if there is no such provider, null as above. */
async function modelsOf(call: RuntimeCall, provider: string): Promise<string[] | null> {
  const answer = await call("GET", "/config/providers", CALL_MS).catch(() => null);
  if (answer?.status !== 200) return null;
  const found = arrayOf(field(answer.body, "providers")).find((each) => field(each, "id") === provider);
  return Object.keys(Object(field(found, "models")));
}
