import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/labels.ts";
import { oneLine } from "../../text.ts";

export const rm: Handler<typeof table.rm> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  await api.call({ method: "DELETE", path: path`/projects/${id}/labels/${args.label}` });
  await context.out.result(
    { name: args.label, removed: true },
    () => `Deleted label ${oneLine(args.label)}.\n`,
  );
};
