import type { Session } from "../../../src/contract/session.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-choice.ts";
import { findSession } from "./reference.ts";
import { outcome } from "./show-session.ts";

export const rename: Handler<typeof table.rename> = async (context, { args }) => {
  const { api, path } = await findSession(context, args.id);
  const session = await api.call<Session>({ method: "PATCH", path, body: { name: args.name } });
  await context.out.result(session, (view) => outcome(session, "renamed", view));
};
