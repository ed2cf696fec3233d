import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/connectors.ts";
import { oneLine } from "../../text.ts";

export const disconnect: Handler<typeof table.disconnect> = async (context, { args }) => {
  const { slug } = args;
  const { id } = await context.project();
  const api = await context.api();
  await api.call({ method: "DELETE", path: path`/projects/${id}/connectors/${slug}/connect` });
  await context.out.result({ slug, disconnected: true }, () => `Disconnected ${oneLine(slug)}.\n`);
};
