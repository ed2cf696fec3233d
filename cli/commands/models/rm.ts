import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/models.ts";
import { oneLine } from "../../text.ts";
import { upstreamsPath } from "./at.ts";

export const rm: Handler<typeof table.rm> = async (context, { args, flags }) => {
  const at = await upstreamsPath(context, flags);
  const api = await context.api();
  await api.call({ method: "DELETE", path: at + path`/${args.id}` });
  await context.out.result(
    { id: args.id, removed: true },
    () => `Removed ${oneLine(args.id)} and its key.\n`,
  );
};
