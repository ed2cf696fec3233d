import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-merge.ts";
import { findCr } from "./reference.ts";
import { outcome } from "./show-cr.ts";

export const ready: Handler<typeof table.ready> = async (context, { args, flags }) => {
  const { api, path } = await findCr(context, args.cr);
  const body = { draft: flags.undo };
  const cr = await api.call<ChangeRequest>({ method: "PATCH", path, body, slow: true });
  await context.out.result(cr, (view) =>
    outcome(cr, flags.undo ? "now a draft" : "ready to be merged", view),
  );
};
