import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { path } from "../../api.ts";
import { openDashboard } from "../../open-page.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-read.ts";
import { listOf } from "./show-cr.ts";

/** The default of --limit. */
const MANY = 10_000;
/** Numbers listed in one line. */
const NAMED_MAX = 10;

export const ls: Handler<typeof table.ls> = async (context, { flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const collection = path`/projects/${id}/change-requests`;
  if (flags.web) return openDashboard(context, api, `${collection}?status=${flags.status}`);
  const call = { path: collection, query: { status: flags.status }, slow: true };
  const crs = await api.list<ChangeRequest>(call, "change_requests", flags.limit ?? MANY);
  await context.out.result(crs, (view) => listOf(crs, view));
  if (crs.length === 0) {
    await context.out.note(`No ${flags.status === "all" ? "" : `${flags.status} `}change requests.`);
  }
  const stale = crs.filter((cr) => cr.stale).map(({ number }) => `#${number}`);
  if (stale.length > 0) {
    const named = stale.length > NAMED_MAX ? `${stale.length} change requests` : stale.join(", ");
    await context.out.warn(
      `Not up to date: ${named}. The repository did not respond, or no longer has one of the branches; the commits are the last known ones.`,
    );
  }
  if (flags.limit === undefined && crs.length === MANY) {
    await context.out.warn(`Only the newest ${MANY} are shown.`);
  }
};
