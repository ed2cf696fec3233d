import type { ChangeRequest, EditChangeRequestBody } from "../../../src/contract/change-request.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr.ts";
import { readDescription } from "./description.ts";
import { namesIn } from "./names.ts";
import { findCr } from "./reference.ts";
import { outcome } from "./show-cr.ts";

/** Flags with names, and the fields that they are. */
const NAMES = [
  ["add-label", "add_labels"],
  ["remove-label", "remove_labels"],
  ["add-assignee", "add_assignees"],
  ["remove-assignee", "remove_assignees"],
  ["add-reviewer", "add_requested_reviewers"],
  ["remove-reviewer", "remove_requested_reviewers"],
] as const;

export const edit: Handler<typeof table.edit> = async (context, { args, flags }) => {
  const description = await readDescription(context, flags);
  const body: EditChangeRequestBody = {};
  if (flags.title !== undefined) body.title = flags.title;
  if (description !== undefined) body.description = description;
  if (flags.base !== undefined) body.base_ref = flags.base;
  for (const [flag, field] of NAMES) if (flags[flag].length > 0) body[field] = namesIn(flags[flag]);
  if (Object.keys(body).length === 0)
    throw usage(
      "Nothing to change: pass --title, --description, --base, --add-label, --add-assignee or --add-reviewer.",
    );
  const { api, path } = await findCr(context, args.cr);
  const cr = await api.call<ChangeRequest>({ method: "PATCH", path, body });
  await context.out.result(cr, (view) => outcome(cr, "changed", view));
};
