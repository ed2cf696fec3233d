import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { findCr } from "./reference.ts";
import { approvalsText } from "./show-comments.ts";
import { outcome } from "./show-cr.ts";

export const approve: Handler<typeof table.approve> = async (context, { args, flags }) => {
  const { api, path } = await findCr(context, args.cr);
  const at = `${path}/approve`;
  if (flags.undo) {
    const cr = await api.call<ChangeRequest>({ method: "DELETE", path: at });
    return await context.out.result(cr, (view) =>
      outcome(cr, `approval withdrawn; ${approvalsText(cr)}`, view),
    );
  }
  // later pushes are not approved with it
  const { change_request } = await api.call<{ change_request: ChangeRequest }>({ path, slow: true });
  const { head_commit_sha } = change_request;
  const body = head_commit_sha === null ? {} : { head_commit_sha };
  const cr = await api.call<ChangeRequest>({ method: "POST", path: at, body, slow: true });
  await context.out.result(cr, (view) =>
    outcome(cr, `approved at ${cr.head_commit_sha?.slice(0, 10)}; ${approvalsText(cr)}`, view),
  );
};
