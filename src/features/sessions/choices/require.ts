import { SvcError } from "../../../contract/errors.ts";
import { DEFAULT_RUNTIME, type PermissionMode } from "../../../contract/runtimes.ts";
import { GATEWAY, type Known } from "./known.ts";

/** Names that an error lists. */
const SHOWN_MAX = 20;

/**
 * Checks that the agent knows a model. Those of the gateway are svc's own. opencode's are known once it has named them;
 * those of a provider that it has not named, for example one of the project's `opencode.json` before the first session,
 * are checked in the sandbox, before the first prompt. The other agents' makers decide themselves.
 * @returns the name: that of a model of the gateway has the prefix `svc/`
 * @throws validation_failed, which lists the models
 */
export function requireModel(known: Known, model: string): string {
  const { runtime, gateway, models, source } = known;
  const isOpencode = runtime === DEFAULT_RUNTIME;
  const [provider, bare] = splitModel(model);
  if (gateway) {
    const name = [bare, model].find((each) => gateway.names.has(each));
    if (name !== undefined) return GATEWAY + name;
    const isGateways = !isOpencode || provider === "svc" || provider === "";
    if (gateway.acceptsAny && isGateways) return GATEWAY + (provider === "svc" ? bare : model);
    if (isGateways) throw unknownModel(known, model);
  }
  if (!isOpencode || models.some(({ id }) => id === model)) return model;
  const isListed = source === "agent" || models.some(({ id }) => id.startsWith(`${provider}/`));
  if (isListed || provider === "" || provider === "svc") throw unknownModel(known, model);
  return model;
}

/** The provider of a model, empty without one, and the name that the provider has for it. */
function splitModel(model: string): [provider: string, name: string] {
  const at = model.indexOf("/");
  return at < 0 ? ["", model] : [model.slice(0, at), model.slice(at + 1)];
}

function unknownModel({ title, models }: Known, model: string): SvcError {
  const [provider] = splitModel(model);
  const ids = models.map(({ id }) => id);
  const ofProvider = ids.filter((id) => id.startsWith(`${provider}/`));
  const names = listed(ofProvider.length > 0 ? ofProvider : ids);
  const known =
    ids.length === 0
      ? "svc knows no models: add an upstream with svc models add, or the key of a provider with svc secrets set, and name the model with its provider, as in anthropic/claude-sonnet-4-5"
      : `Available: ${names}`;
  return refused("model", `${title} has no model "${model}" here. ${known}.`);
}

/** @throws validation_failed, which lists the modes */
export function requireMode({ modes, title }: Known, mode: PermissionMode): void {
  if (modes.includes(mode)) return;
  throw refused("mode", `${title} has no mode "${mode}" here. Available: ${listed(modes)}.`);
}

/** The efforts of a model; null: unknown, as those of the agent's own choice. */
export function effortsOf({ models }: Known, model: string | null): string[] | null {
  return models.find(({ id }) => id === model || id === `${GATEWAY}${model}`)?.efforts ?? null;
}

/** @throws validation_failed, which lists the efforts */
export function requireEffort(known: Known, model: string | null, effort: string): void {
  const efforts = effortsOf(known, model);
  if (efforts === null || efforts.includes(effort)) return;
  const available = efforts.length === 0 ? "It has none to choose from" : `Available: ${listed(efforts)}`;
  throw refused("effort", `The model ${model} has no reasoning effort "${effort}". ${available}.`);
}

function listed(names: readonly string[]): string {
  const more = names.length > SHOWN_MAX ? ` and ${names.length - SHOWN_MAX} more` : "";
  return names.slice(0, SHOWN_MAX).join(", ") + more;
}

function refused(path: string, message: string): SvcError {
  return new SvcError("validation_failed", message, {
    details: [{ path, message: "cannot be chosen in this session" }],
  });
}
