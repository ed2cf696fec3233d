import type { AppWithDeployments } from "../../../src/contract/app.ts";
import { path } from "../../api.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { sheet } from "../../table-print.ts";
import { oneLine } from "../../text.ts";
import { accessText, deploymentsOf, statePaint, stateText, volumeText } from "./show-app.ts";

export const info: Handler<typeof table.info> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const found = await api.call<AppWithDeployments>({ path: path`/projects/${id}/apps/${args.slug}` });
  await context.out.result(found, (view) => page(found, view));
  const slug = oneLine(found.app.slug);
  await context.out.note(
    found.app.state === "live" ? `Next: svc apps open ${slug}` : `Next: svc apps logs ${slug}`,
  );
};

function page({ app, deployments, problem }: AppWithDeployments, view: View): string {
  const { tty, paint } = view;
  const title = oneLine(app.name ?? app.slug);
  const head = tty ? `${paint.bold(title)}\n${statePaint(paint, app.state)(stateText(app))}\n\n` : "";
  const facts = sheet(
    [
      ["slug", app.slug],
      ...(tty ? [] : ([["state", app.state]] as const)),
      ["error", app.error],
      ["problem", problem],
      ["address", app.url],
      ["public address", app.public_url === app.url ? null : app.public_url],
      ["access", tty ? accessText(app) : app.access],
      ["type", app.type],
      ["root path", app.root_path],
      ["volume", volumeText(app)],
      ["commit", app.live?.commit],
      ["rolled back", app.auto_deploy ? null : "commits do not deploy it until svc apps deploy does"],
    ],
    view,
  );
  const rows = deploymentsOf(deployments, view);
  return `${head}${facts}${rows === "" ? "" : `\n${tty ? `${paint.bold("Deployments")}\n` : ""}${rows}`}`;
}
