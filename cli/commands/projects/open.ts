import type { Project } from "../../../src/contract/project.ts";
import { path } from "../../api.ts";
import { openBrowser } from "../../browser.ts";
import { readUrl } from "../../hosts.ts";
import type { Handler } from "../../spec.ts";
import type { System } from "../../system.ts";
import type * as table from "../../table/projects.ts";
import type { Target } from "../../target.ts";

export const open: Handler<typeof table.open> = async (context, { args, flags }) => {
  const { system, out } = context;
  const { id } = await context.project(args["id-or-slug"]);
  const api = await context.api();
  const project = await api.call<Project>({ path: path`/projects/${id}` });
  const url = `${dashboardOf(system, api.target)}${path`/projects/${project.project_id}`}`;
  const stays = flags["print-url"] || !context.canAsk() || !system.stdout.isTTY || out.data.json;
  const opened = !stays && (await openBrowser(system, url));
  await out.result({ url }, () => `${url}\n`);
  if (opened) await out.note("Opened in the browser.");
};

/** SVC_DASHBOARD_URL, the host's own, else the address of its API without /v1. */
export function dashboardOf({ env }: System, target: Target): string {
  const chosen = env["SVC_DASHBOARD_URL"] || target.dashboardUrl;
  const url = chosen ? readUrl(chosen, "The dashboard's address") : target.url;
  return url.replace(/\/v1$/, "");
}
