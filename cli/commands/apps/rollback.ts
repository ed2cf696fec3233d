import type { App } from "../../../src/contract/app.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { oneLine } from "../../text.ts";
import { readNumber } from "./number.ts";
import { outcome } from "./show-app.ts";
import { waitForEnd } from "./wait.ts";

export const rollback: Handler<typeof table.rollback> = async (context, { args, flags }) => {
  const deployment = args.deployment === undefined ? undefined : readNumber(args.deployment);
  const { id } = await context.project();
  const api = await context.api();
  const at = path`/projects/${id}/apps/${args.slug}`;
  const started = await api.call<App>({
    method: "POST",
    path: `${at}/rollback`,
    body: { ...(deployment !== undefined && { deployment }) },
  });
  const to = started.next?.rollback_to ?? deployment;
  const app = flags.wait ? await waitForEnd(context, api, at, started) : started;
  const begun = `its rollback${to === undefined ? "" : ` to deployment ${to}`} has started`;
  const sentence = flags.wait ? `live at ${oneLine(app.url)}` : begun;
  await context.out.result(app, (view) => outcome(app, sentence, view));
  const slug = oneLine(app.slug);
  await context.out.note(`Commits do not deploy it until you do: svc apps deploy ${slug}`);
};
