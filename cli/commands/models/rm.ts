import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/models.ts";
import { oneLine } from "../../text.ts";

export const rm: Handler<typeof table.rm> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  await api.call({ method: "DELETE", path: path`/projects/${id}/model-upstreams/${args.id}` });
  await context.out.result(
    { id: args.id, removed: true },
    () => `Removed ${oneLine(args.id)} and its key.\n`,
  );
};
