import type { Session } from "../../../src/contract/session.ts";
import { CliError, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { oneLine } from "../../text.ts";
import { findSession } from "./reference.ts";
import { shortId, statusText } from "./show-session.ts";

export const rm: Handler<typeof table.rm> = async (context, { args, flags }) => {
  if (!flags.yes && !context.canAsk()) {
    throw usage("Deleting a session needs --yes without a terminal.");
  }
  const { api, path } = await findSession(context, args.id);
  const session = await api.call<Session>({ path });
  const { session_id, branch_name } = session;
  const words = `${shortId(session)}${session.title === null ? "" : ` ${oneLine(session.title)}`}`;
  if (!flags.yes) {
    const { confirm } = await import("../../prompt.ts");
    const question = `Delete the session ${words}, which is ${statusText(session)}? Its branch stays.`;
    if (!(await confirm(question))) throw new CliError("cancelled", "Cancelled; nothing was changed.");
  }
  await api.call({ method: "DELETE", path, slow: true });
  await context.out.result(
    { session_id, branch_name, deleted: true },
    () => `Deleted the session ${words}.\n`,
  );
  await context.out.note(`Its commits are on the branch ${oneLine(branch_name)}.`);
  if (session.saved !== null)
    await context.out.note(
      `Its saved work is the commit ${oneLine(session.saved.commit)}: to get it: git fetch origin <commit>`,
    );
};
