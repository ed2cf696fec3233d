import type { App, AppLogs, AppWithDeployments, Deployment } from "../../../src/contract/app.ts";
import type { Api } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { count, oneLine } from "../../text.ts";
import { infoCommand, logCommand } from "./commands.ts";

/** The default of --timeout: a build may take half an hour. */
const WAIT_SECONDS = 1800;
const POLL_MS = 1_000;
/** Lines of the log shown with a failure. */
const TAIL = 20;

/**
 * Waits until the deployment that was started is live.
 * @param at the path of the app
 * @throws CliError `deployment_failed` with the reason and the end of the log, `timeout`
 */
export async function waitForEnd(context: Context, api: Api, at: string, started: App): Promise<App> {
  const { sleep } = context.system;
  const seconds = context.globals.timeout ?? WAIT_SECONDS;
  const slug = oneLine(started.slug);
  const id = started.next?.deployment_id;
  let reported = "";
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(POLL_MS)) {
    const { app, deployments } = await api.call<AppWithDeployments>({ path: at });
    if (app.state === "waiting") {
      if (app.error !== null && app.error !== reported) await context.out.note(oneLine(app.error));
      reported = app.error ?? "";
      continue;
    }
    // a deployment that could not start has no id
    const mine = deployments.find(({ deployment_id }) => deployment_id === id) ?? deployments[0];
    if (!mine) throw new CliError("unexpected_response", "The host sent an app without deployments.");
    if (mine.state === "live" || mine.state === "retired") return app;
    if (mine.state !== "building" && mine.state !== "starting") throw await failed(api, at, app, mine);
    if (mine.state !== reported) await context.out.note(`Deployment ${mine.number} is ${mine.state}…`);
    reported = mine.state;
  }
  throw new CliError(
    "timeout",
    `The deployment of ${slug} did not finish within ${count(seconds, "second")}.`,
    {
      hint: `It continues. To check it: ${infoCommand(started)}`,
    },
  );
}

async function failed(api: Api, at: string, app: App, mine: Deployment): Promise<CliError> {
  const query = { deployment: mine.number, tail: TAIL };
  const log = await api.call<AppLogs>({ path: `${at}/logs`, query }).catch(() => null);
  const how = mine.state === "failed" ? "failed" : "was stopped";
  const reason = oneLine(mine.error ?? "no reason is known");
  const number = app.change_request === null ? ` --deployment ${mine.number}` : "";
  return new CliError(
    "deployment_failed",
    `Deployment ${mine.number} of ${oneLine(app.slug)} ${how}: ${reason}`,
    {
      log: log?.lines,
      hint: `The whole log: ${logCommand(app)}${number}`,
    },
  );
}
