import type { App, AppLogs, AppWithDeployments, Deployment } from "../../../src/contract/app.ts";
import { type Api, path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/apps.ts";
import { count, oneLine } from "../../text.ts";
import { outcome } from "./show-app.ts";

/** Seconds that are waited for a deployment unless --timeout says otherwise: a build may take half an hour. */
const WAIT_SECONDS = 1800;
const LOOK_MS = 1_000;
/** Lines of the log that are shown with a failure. */
const TAIL = 20;

export const deploy: Handler<typeof table.deploy> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const at = path`/projects/${id}/apps/${args.slug}`;
  const begun = await api.call<App>({ method: "POST", path: `${at}/deploy` });
  const app = flags.wait ? await untilOver(context, api, at, begun) : begun;
  const said = flags.wait ? `live at ${oneLine(app.url)}` : "its deployment has begun";
  await context.out.result(app, (view) => outcome(app, said, view));
  if (!flags.wait) await context.out.note(`Next: svc apps logs ${oneLine(app.slug)}`);
};

/** @throws CliError `deployment_failed` with the reason and the end of the log, `timeout` */
async function untilOver(context: Context, api: Api, at: string, begun: App): Promise<App> {
  const { sleep } = context.system;
  const seconds = context.globals.timeout ?? WAIT_SECONDS;
  const slug = oneLine(begun.slug);
  const id = begun.next?.deployment_id;
  let told = "";
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(LOOK_MS)) {
    const { app, deployments } = await api.call<AppWithDeployments>({ path: at });
    // what could not be begun at all has failed already
    const mine = deployments.find(({ deployment_id }) => deployment_id === id) ?? deployments[0];
    if (!mine) throw new CliError("unexpected_response", "The host sent an app without deployments.");
    if (mine.state === "live" || mine.state === "retired") return app;
    if (mine.state !== "building" && mine.state !== "starting") throw await failed(api, at, slug, mine);
    if (mine.state !== told) await context.out.note(`Deployment ${mine.number} is ${mine.state}…`);
    told = mine.state;
  }
  throw new CliError(
    "timeout",
    `After ${count(seconds, "second")} the deployment of ${slug} is not over yet.`,
    {
      hint: `It goes on. To look: svc apps info ${slug}`,
    },
  );
}

async function failed(api: Api, at: string, slug: string, mine: Deployment): Promise<CliError> {
  const query = { deployment: mine.number, tail: TAIL };
  const log = await api.call<AppLogs>({ path: `${at}/logs`, query }).catch(() => null);
  const how = mine.state === "failed" ? "failed" : "was stopped";
  const reason = oneLine(mine.error ?? "no reason is known");
  return new CliError("deployment_failed", `Deployment ${mine.number} of ${slug} ${how}: ${reason}`, {
    log: log?.lines,
    hint: `The whole log: svc apps logs ${slug} --deployment ${mine.number}`,
  });
}
