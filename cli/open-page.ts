import type { Api } from "./api.ts";
import { openBrowser } from "./browser.ts";
import type { Context } from "./context.ts";
import { readUrl } from "./hosts.ts";
import type { System } from "./system.ts";
import type { Target } from "./target.ts";
import { oneLine } from "./text.ts";

/** Prints an address and, on a terminal, opens it in the browser. */
export async function openPage(context: Context, url: string, printOnly: boolean): Promise<void> {
  const { out } = context;
  const opened = !printOnly && (await openOnTerminal(context, url));
  await out.result({ url }, () => `${oneLine(url)}\n`);
  if (opened) await out.note("Opened in the browser.");
}

/** Opens a page of the dashboard. @param page its path, which is that of the resource in the API, and its query */
export async function openDashboard(context: Context, { target }: Api, page: string): Promise<void> {
  await openPage(context, `${dashboardOf(context.system, target)}${page}`, false);
}

/** Opens the page of something that a command has created, after the command's own output. */
export async function openCreated(context: Context, { target }: Api, page: string): Promise<void> {
  const url = `${dashboardOf(context.system, target)}${page}`;
  const opened = await openOnTerminal(context, url);
  await context.out.note(opened ? "Opened in the browser." : `Its page: ${oneLine(url)}`);
}

async function openOnTerminal(context: Context, url: string): Promise<boolean> {
  const { system, out } = context;
  if (!context.canAsk() || !system.stdout.isTTY || out.data.json) return false;
  return openBrowser(system, url);
}

/** The dashboard's address: SVC_DASHBOARD_URL, the host's `dashboard_url`, or the API's address without /v1. */
export function dashboardOf({ env }: System, target: Target): string {
  const chosen = env["SVC_DASHBOARD_URL"] || target.dashboardUrl;
  const url = chosen ? readUrl(chosen, "The dashboard's address") : target.url;
  return url.replace(/\/v1$/, "");
}
