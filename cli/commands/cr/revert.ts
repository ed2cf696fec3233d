import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { RevertChangeRequestBody } from "../../../src/contract/change-request-revert.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-merge.ts";
import { oneLine } from "../../text.ts";
import { readDescription } from "./description.ts";
import { findCr } from "./reference.ts";
import { outcome } from "./show-cr.ts";

export const revert: Handler<typeof table.revert> = async (context, { args, flags }) => {
  const description = await readDescription(context, flags);
  const { api, path } = await findCr(context, args.cr, "merged");
  const body: RevertChangeRequestBody = {
    ...(flags.title !== undefined && { title: flags.title }),
    ...(description !== undefined && { description }),
    ...(flags.branch !== undefined && { branch: flags.branch }),
  };
  const call = { method: "POST", path: `${path}/revert`, body, slow: true } as const;
  const cr = await api.call<ChangeRequest>(call);
  const branches = `${oneLine(cr.head_ref)} → ${oneLine(cr.base_ref)}`;
  await context.out.result(cr, (view) => outcome(cr, `opened, ${branches}`, view));
  await context.out.note(`Next: svc cr show ${cr.number}`);
};
