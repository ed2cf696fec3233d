import { PERMISSION_MODES } from "../../src/contract/runtimes.ts";
import type { EditSessionBody, Session, SessionChoices } from "../../src/contract/session.ts";
import { type Api, path } from "../api.ts";
import { CHOICE_NAMES, type ChoiceName, currentOf, listOf } from "../commands/sessions/choices.ts";
import { usage } from "../failure.ts";
import { oneLine } from "../text.ts";

/** A command of the chat that lists or changes what the agent works with: `/model`, `/model <name>`. */
export interface ChooseCommand {
  what: ChoiceName;
  /** Null: list them. */
  value: string | null;
}

const COMMAND = new RegExp(`^/(${CHOICE_NAMES.join("|")})(?: +(\\S+))? *$`);
/** The value that undoes a choice of an agent or an effort. */
const OWN = "default";
/** Lines of a list. */
const SHOWN_MAX = 40;

/** Null if a line is not such a command. */
export function readChoose(line: string): ChooseCommand | null {
  const [, name, value = null] = COMMAND.exec(line.trim()) ?? [];
  const what = CHOICE_NAMES.find((each) => each === name);
  return what ? { what, value } : null;
}

/** @returns what to show: the list, or what has changed. @throws CliError */
export async function choose(
  api: Api,
  { project_id, session_id }: Session,
  { what, value }: ChooseCommand,
): Promise<string> {
  const own = path`/projects/${project_id}/sessions/${session_id}`;
  if (value === null) return listText(await api.call<SessionChoices>({ path: `${own}/choices` }), what);
  const session = await api.call<Session>({ method: "PATCH", path: own, body: bodyOf(what, value) });
  const now = what === "agent" ? session.agent_name : session[what];
  return `The next prompt: ${what} ${oneLine(now ?? OWN)}`;
}

/** @throws CliError `usage` for an unknown mode */
function bodyOf(what: ChoiceName, value: string): EditSessionBody {
  if (what === "model") return { model: value };
  if (what === "agent") return { agent_name: value === OWN ? null : value };
  if (what === "effort") return { effort: value === OWN ? null : value };
  const mode = PERMISSION_MODES.find((each) => each === value);
  if (mode) return { mode };
  throw usage(`The mode must be one of ${PERMISSION_MODES.join(", ")}.`);
}

function listText(found: SessionChoices, what: ChoiceName): string {
  const current = currentOf(found, what);
  const rows = listOf(found, what);
  const lines = rows.slice(0, SHOWN_MAX).map(({ value, about }) => {
    const mark = value === current || value === `svc/${current}` ? "*" : " ";
    return `${mark} ${oneLine(value)}${about === "" ? "" : `  ${oneLine(about).slice(0, 60)}`}`;
  });
  const more = rows.length > SHOWN_MAX ? [`  … and ${rows.length - SHOWN_MAX} more`] : [];
  const none = rows.length === 0 ? [`svc knows no ${what} to choose from.`] : [];
  return [...none, ...lines, ...more, `/${what} <name> chooses one for the next prompt.`].join("\n");
}
