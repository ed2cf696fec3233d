import type { Session } from "../../../src/contract/session.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { listOf } from "./show-session.ts";

/** The default of --limit. */
const MANY = 10_000;

export const ls: Handler<typeof table.ls> = async (context, { flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { status } = flags;
  const call = { path: path`/projects/${id}/sessions`, query: status === "all" ? {} : { status } };
  const sessions = await api.list<Session>(call, "sessions", flags.limit ?? MANY);
  await context.out.result(sessions, (view) => listOf(sessions, view));
  if (sessions.length === 0) {
    await context.out.note(
      status === "all" ? "No sessions yet. Next: svc sessions new" : `No session is ${status}.`,
    );
  }
  if (flags.limit === undefined && sessions.length === MANY) {
    await context.out.warn(`Only the newest ${MANY} are shown.`);
  }
};
