import { openBrowser } from "./browser.ts";
import type { Context } from "./context.ts";
import { readUrl } from "./hosts.ts";
import type { System } from "./system.ts";
import type { Target } from "./target.ts";
import { oneLine } from "./text.ts";

/** Prints an address and, on a terminal, opens it in the browser. */
export async function openPage(context: Context, url: string, printOnly: boolean): Promise<void> {
  const { system, out } = context;
  const stays = printOnly || !context.canAsk() || !system.stdout.isTTY || out.data.json;
  const opened = !stays && (await openBrowser(system, url));
  await out.result({ url }, () => `${oneLine(url)}\n`);
  if (opened) await out.note("Opened in the browser.");
}

/** The dashboard's address: SVC_DASHBOARD_URL, the host's `dashboard_url`, or the API's address without /v1. */
export function dashboardOf({ env }: System, target: Target): string {
  const chosen = env["SVC_DASHBOARD_URL"] || target.dashboardUrl;
  const url = chosen ? readUrl(chosen, "The dashboard's address") : target.url;
  return url.replace(/\/v1$/, "");
}
