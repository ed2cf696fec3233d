import type { Session } from "../../../src/contract/session.ts";
import { path } from "../../api.ts";
import { dashboardOf, openPage } from "../../open-page.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { findSession } from "./reference.ts";

export const open: Handler<typeof table.open> = async (context, { args, flags }) => {
  const found = await findSession(context, args.id);
  const { project_id, session_id } = await found.api.call<Session>({ path: found.path });
  const page = path`/projects/${project_id}/sessions/${session_id}`;
  await openPage(context, `${dashboardOf(context.system, found.api.target)}${page}`, flags["print-url"]);
};
