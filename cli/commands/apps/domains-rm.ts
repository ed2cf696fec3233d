import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/app-domains.ts";
import { oneLine } from "../../text.ts";

export const rm: Handler<typeof table.rm> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  await api.call({ method: "DELETE", path: path`/projects/${id}/apps/${args.slug}/domains/${args.domain}` });
  const done = { domain: args.domain, removed: true };
  await context.out.result(done, () => `Removed the domain ${oneLine(args.domain)}.\n`);
};
