import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/secrets.ts";
import { oneLine } from "../../text.ts";

export const unset: Handler<typeof table.unset> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const done: { name: string; removed: true }[] = [];
  for (const name of new Set(args.NAME)) {
    await api.call({ method: "DELETE", path: path`/projects/${id}/secrets/${name}` });
    done.push({ name, removed: true });
  }
  await context.out.result(done, () => `Removed ${done.map(({ name }) => oneLine(name)).join(", ")}.\n`);
};
