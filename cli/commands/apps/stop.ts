import type { App } from "../../../src/contract/app.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { oneLine } from "../../text.ts";
import { outcome } from "./show-app.ts";

export const stop: Handler<typeof table.stop> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const app = await api.call<App>({ method: "POST", path: path`/projects/${id}/apps/${args.slug}/stop` });
  await context.out.result(app, (view) => outcome(app, "stopped", view));
  await context.out.note(`To start it again: svc apps deploy ${oneLine(app.slug)}`);
};
