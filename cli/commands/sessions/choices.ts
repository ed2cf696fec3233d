import type { SessionChoices } from "../../../src/contract/session.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-choice.ts";
import { oneLine } from "../../text.ts";
import { findOwnSession } from "./reference.ts";
import { shortId } from "./show-session.ts";

export const choices: Handler<typeof table.choices> = async (context, { args }) => {
  const { api, id, path } = await findOwnSession(context, args.id);
  const found = await api.call<SessionChoices>({ path: `${path}/choices` });
  await context.out.result(found, (view) => rowsOf(found, view));
  if (found.other_models)
    await context.out.note(
      "Other models may be chosen, too: svc/<model of the gateway>, or one with its provider.",
    );
  await context.out.note(`Next: svc sessions edit ${shortId({ session_id: id })} --model <name>`);
};

/** What can be chosen, in the order of the list; the current one is marked. */
export function listOf(found: SessionChoices, what: ChoiceName): { value: string; about: string }[] {
  if (what === "model")
    return found.models.map(({ id, name }) => ({ value: id, about: name === id ? "" : name }));
  if (what === "agent")
    return found.agents.map(({ name, description }) => ({ value: name, about: description ?? "" }));
  if (what === "mode") return found.modes.map((value) => ({ value, about: "" }));
  return effortsOf(found).map((value) => ({ value, about: "" }));
}

/** Those of the current model; of an unknown one, those of any. */
function effortsOf({ models, current }: SessionChoices): string[] {
  const one = models.find(({ id }) => id === current.model || id === `svc/${current.model}`);
  return one ? one.efforts : [...new Set(models.flatMap(({ efforts }) => efforts))];
}

export const CHOICE_NAMES = ["model", "agent", "mode", "effort"] as const;
export type ChoiceName = (typeof CHOICE_NAMES)[number];

export function currentOf({ current }: SessionChoices, what: ChoiceName): string | null {
  return what === "agent" ? current.agent_name : current[what];
}

function rowsOf(found: SessionChoices, { tty, paint }: View): string {
  return CHOICE_NAMES.flatMap((what) => {
    const current = currentOf(found, what);
    return listOf(found, what).map(({ value, about }) => {
      const isCurrent = value === current || value === `svc/${current}`;
      if (!tty) return `${what}\t${oneLine(value)}\t${isCurrent ? "current" : ""}\n`;
      const mark = isCurrent ? paint.green("*") : " ";
      const more = about === "" ? "" : paint.dim(`  ${oneLine(about).slice(0, 80)}`);
      return `${paint.dim(what.padEnd(7))}${mark} ${oneLine(value)}${more}\n`;
    });
  }).join("");
}
