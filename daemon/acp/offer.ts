import { arrayOf, field, textField } from "../../src/contract/json.ts";
import type { AcpChoice } from "./settings.ts";

/** A setting that the agent offers. */
export interface Setting {
  /** Null: the mode of an agent without config options, which has a request of its own. */
  configId: string | null;
  current: string;
  values: { value: string; name: string }[];
}

/** What an agent lets its client choose; null: it does not offer the setting. */
export interface Offer {
  model: Setting | null;
  mode: Setting | null;
  effort: Setting | null;
}

export const NO_OFFER: Offer = { model: null, mode: null, effort: null };

/** Values of a setting. */
const VALUES_MAX = 500;
const TEXT_MAX = 200;
/** The value with which Claude Code's adapter goes back to the model's own effort. */
const OWN_EFFORT = "default";

/**
 * Reads what an agent offers from its answer to a request that opens a conversation or changes a setting, or from its
 * update of the settings (Agent Client Protocol 1, Session Config Options and Session Modes).
 * @param before what it has offered
 */
export function offerOf(answer: unknown, before: Offer): Offer {
  const options = arrayOf(field(answer, "configOptions"));
  const modes = field(answer, "modes");
  const ofCategory = (category: string) => {
    const option = options.find((each) => textField(each, "category") === category);
    return option === undefined ? null : settingOf(option);
  };
  const mode = ofCategory("mode") ?? (modes ? modeOf(modes) : null);
  if (options.length === 0) return { ...before, mode: mode ?? before.mode };
  return { model: ofCategory("model"), mode, effort: ofCategory("thought_level") };
}

function settingOf(option: unknown): Setting | null {
  // an option may be a group of options
  const values = arrayOf(field(option, "options")).flatMap((each) => {
    const group = field(each, "options");
    return Array.isArray(group) ? group : [each];
  });
  return {
    configId: textField(option, "id"),
    current: textField(option, "currentValue"),
    values: values
      .slice(0, VALUES_MAX)
      .map((each) => named(textField(each, "value"), textField(each, "name"))),
  };
}

function modeOf(modes: unknown): Setting {
  return {
    configId: null,
    current: textField(modes, "currentModeId"),
    values: arrayOf(field(modes, "availableModes"))
      .slice(0, VALUES_MAX)
      .map((each) => named(textField(each, "id"), textField(each, "name"))),
  };
}

function named(value: string, name: string): Setting["values"][number] {
  return { value: value.slice(0, TEXT_MAX), name: (name || value).slice(0, TEXT_MAX) };
}

/** The efforts that a setting names, without the one that means none of them. */
export function effortsOf({ effort }: Offer): string[] {
  return effort?.values.map(({ value }) => value).filter((value) => value !== OWN_EFFORT) ?? [];
}

/** The change of a setting that a choice needs. */
export interface Change {
  setting: keyof Offer;
  value: string;
}

/** The next change that brings an agent to a choice; the model comes first, because efforts depend on it. */
export function nextChange(offer: Offer, choice: AcpChoice): Change | null {
  const wanted: Record<keyof Offer, string | null> = {
    model: choice.model?.modelID ?? null,
    mode: choice.mode,
    effort: choice.effort ?? OWN_EFFORT,
  };
  for (const setting of ["model", "mode", "effort"] as const) {
    const [offered, value] = [offer[setting], wanted[setting]];
    if (offered && value !== null && offered.current !== value && includes(offered, value))
      return { setting, value };
  }
  return null;
}

/**
 * Why an agent cannot work as chosen, as a sentence; null if it can.
 * @param startEfforts those that its command sets
 */
export function choiceProblem(
  { mode, effort }: Offer,
  choice: AcpChoice,
  startEfforts: readonly string[],
): string | null {
  if (choice.isModeRequired && choice.mode !== null && !(mode && includes(mode, choice.mode)))
    return `The agent has no mode ${choice.mode}: ${list(mode)}. Choose another one with svc sessions edit --mode.`;
  const isEffort =
    choice.effort === null ||
    startEfforts.includes(choice.effort) ||
    (effort !== null && includes(effort, choice.effort));
  if (isEffort) return null;
  return `The agent's model has no reasoning effort ${choice.effort}: ${list(effort)}. Choose another one with svc sessions edit --effort.`;
}

/** Whether an agent that works can change to a choice; otherwise it has to be started with it. */
export function canChange(offer: Offer, from: AcpChoice, to: AcpChoice): boolean {
  const isModel = Bun.deepEquals(from.model, to.model) || isOffered(offer.model, to.model?.modelID ?? null);
  const isEffort = from.effort === to.effort || isOffered(offer.effort, to.effort ?? OWN_EFFORT);
  const isMode = from.mode === to.mode || (from.mode !== null && to.mode !== null);
  return isModel && isEffort && isMode;
}

function isOffered(setting: Setting | null, value: string | null): boolean {
  return setting !== null && value !== null && includes(setting, value);
}

function includes({ values }: Setting, value: string): boolean {
  return values.some((each) => each.value === value);
}

function list(setting: Setting | null): string {
  const values = setting?.values.map(({ value }) => value) ?? [];
  return values.length === 0 ? "it offers none" : `it offers ${values.join(", ")}`;
}
