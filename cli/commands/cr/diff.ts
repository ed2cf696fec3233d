import type { ChangeRequestDiff } from "../../../src/contract/change-request.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr.ts";
import { showPatch } from "../show-patch.ts";
import { findCr } from "./reference.ts";

export const diff: Handler<typeof table.diff> = async (context, { args, flags }) => {
  const { out } = context;
  const found = await findCr(context, args.cr);
  const path = `${found.path}/diff`;
  if (out.data.json) {
    const answer = await found.api.call<ChangeRequestDiff>({ path, slow: true });
    return out.result(answer, () => "");
  }
  const patch = await found.api.open({ path, accept: "text/x-diff", slow: true });
  await showPatch(context, patch, flags["no-pager"]);
};
