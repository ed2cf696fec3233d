import type { CreateLabelBody, Label } from "../../../src/contract/label.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/labels.ts";
import { oneLine } from "../../text.ts";

export const create: Handler<typeof table.create> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const body: CreateLabelBody = { name: args.name };
  if (flags.hex !== undefined) body.color = colorOf(flags.hex);
  if (flags.description !== undefined) body.description = flags.description;
  const made = await api.call<Label>({ path: path`/projects/${id}/labels`, body });
  await context.out.result(made, () => `Created label ${oneLine(made.name)}.\n`);
};

/** A color may have a `#` before it, as in CSS. */
export const colorOf = (given: string): string => given.replace(/^#/, "");
