import type { Preview } from "../../../src/contract/preview.ts";
import { type Api, path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { openPage } from "../../open-page.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";

export const open: Handler<typeof table.open> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  await openAt(context, api, path`/projects/${id}/apps/${args.slug}`, flags["print-url"]);
};

/** Opens an app or a preview with a link that signs one browser in. @param at its path */
export async function openAt(context: Context, api: Api, at: string, printOnly: boolean): Promise<void> {
  const { url } = await api.call<Preview>({ method: "POST", path: `${at}/preview` });
  await openPage(context, url, printOnly);
}
