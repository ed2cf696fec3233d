import type { ChangeRequest, EditChangeRequestBody } from "../../../src/contract/change-request.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr.ts";
import { readDescription } from "./description.ts";
import { findCr } from "./reference.ts";
import { outcome } from "./show-cr.ts";

export const edit: Handler<typeof table.edit> = async (context, { args, flags }) => {
  const description = await readDescription(context, flags);
  if (flags.title === undefined && description === undefined && flags.base === undefined) {
    throw usage("Nothing to change: pass --title, --description, --description-file or --base.");
  }
  const { api, path } = await findCr(context, args.cr);
  const body: EditChangeRequestBody = {};
  if (flags.title !== undefined) body.title = flags.title;
  if (description !== undefined) body.description = description;
  if (flags.base !== undefined) body.base_ref = flags.base;
  const cr = await api.call<ChangeRequest>({ method: "PATCH", path, body });
  await context.out.result(cr, (view) => outcome(cr, "changed", view));
};
