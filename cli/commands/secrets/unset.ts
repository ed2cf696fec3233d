import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/secrets.ts";
import { oneLine } from "../../text.ts";
import { unsetMine } from "./mine.ts";

export const unset: Handler<typeof table.unset> = async (context, { args, flags }) => {
  const names = new Set(args.NAME);
  if (flags.mine) await unsetMine(context, names);
  else await unsetOfProject(context, names);
  const { project } = context.globals;
  const from = flags.mine && project !== undefined ? ` from your sessions in ${oneLine(project)}` : "";
  const done = [...names].map((name) => ({ name, removed: true }));
  await context.out.result(
    done,
    () => `Removed ${done.map(({ name }) => oneLine(name)).join(", ")}${from}.\n`,
  );
};

async function unsetOfProject(context: Context, names: ReadonlySet<string>): Promise<void> {
  const { id } = await context.project();
  const api = await context.api();
  for (const name of names) await api.call({ method: "DELETE", path: path`/projects/${id}/secrets/${name}` });
}
