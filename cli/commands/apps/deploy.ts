import type { App } from "../../../src/contract/app.ts";
import { type Api, path } from "../../api.ts";
import type { Context } from "../../context.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { oneLine } from "../../text.ts";
import { logCommand } from "./commands.ts";
import { outcome } from "./show-app.ts";
import { waitForEnd } from "./wait.ts";

export const deploy: Handler<typeof table.deploy> = async (context, { args, flags }) => {
  const { id } = await context.project();
  await deployAt(context, await context.api(), path`/projects/${id}/apps/${args.slug}`, flags.wait);
};

/** Deploys an app or a preview. @param at its path */
export async function deployAt(context: Context, api: Api, at: string, wait: boolean): Promise<void> {
  const started = await api.call<App>({ method: "POST", path: `${at}/deploy` });
  const app = wait ? await waitForEnd(context, api, at, started) : started;
  const begun = app.state === "waiting" ? "waiting for its deployment" : "its deployment has started";
  const sentence = wait ? `live at ${oneLine(app.url)}` : begun;
  await context.out.result(app, (view) => outcome(app, sentence, view));
  if (!wait) await context.out.note(`Next: ${logCommand(app)}`);
}
