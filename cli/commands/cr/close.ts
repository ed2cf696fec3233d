import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr.ts";
import { findCr } from "./reference.ts";
import { outcome } from "./show-cr.ts";

export const close: Handler<typeof table.close> = async (context, { args }) => {
  const { api, path } = await findCr(context, args.cr);
  const cr = await api.call<ChangeRequest>({ method: "POST", path: `${path}/close` });
  await context.out.result(cr, (view) => outcome(cr, "closed", view));
  await context.out.note(`To reopen it: svc cr reopen ${cr.number}`);
};

export const reopen: Handler<typeof table.reopen> = async (context, { args }) => {
  const { api, path } = await findCr(context, args.cr, false);
  const cr = await api.call<ChangeRequest>({ method: "POST", path: `${path}/reopen`, slow: true });
  await context.out.result(cr, (view) => outcome(cr, "reopened", view));
};
