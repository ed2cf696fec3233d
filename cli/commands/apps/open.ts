import type { Preview } from "../../../src/contract/preview.ts";
import { path } from "../../api.ts";
import { openPage } from "../../open-page.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";

export const open: Handler<typeof table.open> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { url } = await api.call<Preview>({
    method: "POST",
    path: path`/projects/${id}/apps/${args.slug}/preview`,
  });
  await openPage(context, url, flags["print-url"]);
};
