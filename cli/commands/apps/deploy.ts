import type { App } from "../../../src/contract/app.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { oneLine } from "../../text.ts";
import { outcome } from "./show-app.ts";
import { waitForEnd } from "./wait.ts";

export const deploy: Handler<typeof table.deploy> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const at = path`/projects/${id}/apps/${args.slug}`;
  const started = await api.call<App>({ method: "POST", path: `${at}/deploy` });
  const app = flags.wait ? await waitForEnd(context, api, at, started) : started;
  const sentence = flags.wait ? `live at ${oneLine(app.url)}` : "its deployment has started";
  await context.out.result(app, (view) => outcome(app, sentence, view));
  if (!flags.wait) await context.out.note(`Next: svc apps logs ${oneLine(app.slug)}`);
};
