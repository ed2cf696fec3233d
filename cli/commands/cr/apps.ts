import type { App, AppList } from "../../../src/contract/app.ts";
import { path as at } from "../../api.ts";
import { CliError, usage } from "../../failure.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-apps.ts";
import { oneLine } from "../../text.ts";
import { deployAt } from "../apps/deploy.ts";
import { readerOf, showLog } from "../apps/logs.ts";
import { openAt } from "../apps/open.ts";
import { listOf, statePaint, stateText } from "../apps/show-app.ts";
import { type Found, findCr } from "./reference.ts";

export const crApps: Handler<typeof table.crApps> = async (context, { args, flags }) => {
  const { deploy, logs, open, wait, tail } = flags;
  if ([deploy, logs, open].filter(Boolean).length > 1)
    throw usage("Only one of --deploy, --logs and --open can be used at a time.", "Leave out the others.");
  if (wait && !deploy) throw usage("--wait needs --deploy.", "Add it, or leave out --wait.");
  if (tail !== undefined && !logs) throw usage("--tail needs --logs.", "Add it, or leave out --tail.");
  if ((logs || open) && context.out.data.json)
    throw usage("--json and --jq are for the list and for --deploy.", "Leave them out.");
  const found = await findCr(context, args.cr);
  if (deploy || logs || open) {
    const one = `${found.path}${at`/apps/${args.app ?? (await onlyOf(found))}`}`;
    if (deploy) return deployAt(context, found.api, one, wait);
    if (logs) return showLog(context, readerOf(found.api, one), tail);
    return openAt(context, found.api, one, false);
  }
  const previews = await previewsOf(found);
  const shown = args.app === undefined ? previews : previews.filter(({ slug }) => slug === args.app);
  await context.out.result(shown, (view) => listOf(shown, view) + (view.tty ? errorsOf(shown) : ""));
  if (shown.length === 0) await context.out.note(NONE);
};

const NONE =
  "No previews. An open change request that is not a draft has one of each app with previews = true in svc.toml on the default branch.";

/** The previews of a change request. */
export async function previewsOf({ api, path }: Found): Promise<App[]> {
  return (await api.call<AppList>({ path: `${path}/apps` })).apps;
}

/** @throws CliError when there is none, or more than one */
async function onlyOf(found: Found): Promise<string> {
  const [only, ...others] = await previewsOf(found);
  if (only === undefined)
    throw new CliError("not_found", "The change request has no preview.", { hint: NONE });
  if (others.length === 0) return only.slug;
  const names = [only, ...others].map(({ slug }) => oneLine(slug)).join(", ");
  throw usage(`The change request has several previews: ${names}.`, "Name one after the change request.");
}

/** The previews on the page of a change request; empty if there are none. */
export function previewsText(previews: readonly App[], view: View): string {
  if (previews.length === 0) return "";
  const rows = previews.map((app) => {
    const state = statePaint(view.paint, app.state)(stateText(app));
    return `  ${oneLine(app.slug)}  ${state}  ${oneLine(app.url)}\n`;
  });
  return `\n${view.paint.bold("Previews")}:\n${rows.join("")}${errorsOf(previews)}`;
}

function errorsOf(previews: readonly App[]): string {
  return previews
    .flatMap(({ slug, error }) => (error === null ? [] : [`  ${oneLine(slug)}: ${oneLine(error)}\n`]))
    .join("");
}
