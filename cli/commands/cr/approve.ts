import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { type Found, findCr, readCr } from "./reference.ts";
import { approvalsText } from "./show-comments.ts";
import { outcome } from "./show-cr.ts";

export const approve: Handler<typeof table.approve> = async (context, { args, flags }) => {
  const { api, path } = await findCr(context, args.cr);
  if (flags.undo) {
    const cr = await api.call<ChangeRequest>({ method: "DELETE", path: `${path}/approve` });
    return await context.out.result(cr, (view) =>
      outcome(cr, `approval withdrawn; ${approvalsText(cr)}`, view),
    );
  }
  const cr = await approveHead({ api, path });
  await context.out.result(cr, (view) => outcome(cr, approvedText(cr), view));
};

/** Approves the current head commit: later pushes are not approved with it. */
async function approveHead({ api, path }: Pick<Found, "api" | "path">): Promise<ChangeRequest> {
  const { head_commit_sha } = await readCr({ api, path });
  const body = head_commit_sha === null ? {} : { head_commit_sha };
  return api.call<ChangeRequest>({ method: "POST", path: `${path}/approve`, body, slow: true });
}

export const approvedText = (cr: ChangeRequest): string =>
  `approved at ${cr.head_commit_sha?.slice(0, 10)}; ${approvalsText(cr)}`;
