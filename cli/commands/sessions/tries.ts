import type { Session } from "../../../src/contract/session.ts";
import type { OneTry, Tries } from "../../../src/contract/tries.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-tries.ts";
import { type Column, table as printTable } from "../../table-print.ts";
import { costText, count, oneLine } from "../../text.ts";
import { findSession } from "./reference.ts";
import { shortId, statusPaint, statusText } from "./show-session.ts";

export const tries: Handler<typeof table.tries> = async (context, { args, flags }) => {
  const { api, path: own } = await findSession(context, args.id);
  const session = await api.call<Session>({ path: own });
  if (session.tries_id === null)
    throw new CliError("not_found", `The session ${shortId(session)} is the only try at its task.`, {
      hint: 'Start several with: svc sessions new --tries 3 --prompt "…"',
    });
  const collection = path`/projects/${session.project_id}/tries/${session.tries_id}`;
  const found = await api.call<Tries>({ path: collection, slow: true });
  if (flags.choose === undefined) {
    await context.out.result(found.tries, (view) => listOfTries(found.tries, view));
    return context.out.note(`Next: svc sessions tries ${shortId(session)} --choose <id>`);
  }
  const chosen = chosenOf(found.tries, flags.choose);
  await confirmChoice(context, found.tries, chosen, flags.yes);
  const body = { session_id: chosen.session.session_id };
  const after = await api.call<Tries>({ path: `${collection}/choose`, body, slow: true });
  await context.out.result(after.tries, (view) => listOfTries(after.tries, view));
  const request = after.tries.find(({ session: { session_id } }) => session_id === body.session_id);
  if (request?.change_request) await context.out.note(`Next: svc cr show ${request.change_request.number}`);
};

function chosenOf(all: readonly OneTry[], reference: string): OneTry {
  const [chosen, ...others] = all.filter(({ session }) =>
    session.session_id.startsWith(reference.toLowerCase()),
  );
  if (chosen && others.length === 0) return chosen;
  throw usage(
    `--choose: ${oneLine(reference).slice(0, 100)} names ${chosen ? "several" : "none"} of the tries.`,
    all.map(({ session }) => oneLine(session.session_id)).join("\n      "),
  );
}

/** @throws CliError `usage` without a terminal and --yes, `cancelled` */
async function confirmChoice(
  context: Context,
  all: readonly OneTry[],
  { session }: OneTry,
  isSure: boolean,
): Promise<void> {
  if (isSure) return;
  if (!context.canAsk()) throw usage("Choosing a try stops the others, and needs --yes without a terminal.");
  const { confirm } = await import("../../prompt.ts");
  const others = count(all.length - 1, "other session");
  const question = `Open the change request of ${shortId(session)}, and stop the ${others}? Their work stays on their branches.`;
  if (!(await confirm(question))) throw new CliError("cancelled", "Cancelled; nothing was changed.");
}

const COLUMNS: readonly Column<OneTry>[] = [
  {
    title: "ID",
    value: ({ session }) => session.session_id,
    shown: ({ session }) => shortId(session),
    paint: (_, view) => view.paint.cyan,
  },
  {
    title: "STATUS",
    value: ({ session }) => session.status,
    shown: ({ session }) => statusText(session),
    paint: ({ session }, view) => statusPaint(view.paint, session.status),
  },
  { title: "CHANGE", value: ({ change }) => changeText(change) },
  { title: "CHECKS", value: ({ checks }) => checks.state },
  { title: "CR", value: ({ change_request: cr }) => (cr === null ? "" : `#${cr.number} ${cr.status}`) },
  { title: "AGENT", value: ({ session }) => session.runtime ?? "" },
  { title: "MODEL", value: ({ session }) => session.model ?? "" },
  { title: "COST", value: ({ session: { cost } }) => (cost === null ? "" : costText(cost)) },
];

export const listOfTries = (all: readonly OneTry[], view: View): string => printTable(all, COLUMNS, view);

function changeText(change: OneTry["change"]): string {
  if (change === null) return "unknown";
  const { files_changed, additions, deletions } = change;
  return files_changed === 0 ? "none yet" : `+${additions} -${deletions} in ${count(files_changed, "file")}`;
}
