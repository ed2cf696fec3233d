import type { SavedWork } from "../../../src/contract/saved-work.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/sessions.ts";
import { showPatch } from "../show-patch.ts";
import { findOwnSession } from "./reference.ts";

export const saved: Handler<typeof table.saved> = async (context, { args, flags }) => {
  const { out } = context;
  const found = await findOwnSession(context, args.id);
  const path = `${found.path}/saved`;
  if (out.data.json) {
    const answer = await found.api.call<SavedWork>({ path, slow: true });
    return out.result(answer, () => "");
  }
  const patch = await found.api.open({ path, accept: "text/x-diff", slow: true });
  await showPatch(context, patch, flags["no-pager"]);
};
