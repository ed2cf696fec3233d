import type { EditLabelBody, Label } from "../../../src/contract/label.ts";
import { path } from "../../api.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/labels.ts";
import { oneLine } from "../../text.ts";
import { colorOf } from "./new.ts";

export const edit: Handler<typeof table.edit> = async (context, { args, flags }) => {
  const body: EditLabelBody = {};
  if (flags.name !== undefined) body.name = flags.name;
  if (flags.hex !== undefined) body.color = colorOf(flags.hex);
  if (flags.description !== undefined) body.description = flags.description;
  if (Object.keys(body).length === 0)
    throw usage("Nothing to change.", "Flags: --name, --hex, --description");
  const { id } = await context.project();
  const api = await context.api();
  const changed = await api.call<Label>({
    method: "PATCH",
    path: path`/projects/${id}/labels/${args.label}`,
    body,
  });
  await context.out.result(changed, () => `Changed label ${oneLine(changed.name)}.\n`);
};
