import type { ChangeRequest, CrStatusFilter } from "../../../src/contract/change-request.ts";
import { printSearch, type Term } from "../../../src/contract/search/parse.ts";
import { path } from "../../api.ts";
import { openDashboard } from "../../open-page.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-read.ts";
import { namesIn } from "./names.ts";
import { readSearch } from "./read-search.ts";
import { listOf } from "./show-cr.ts";

/** The default of --limit. */
const MANY = 10_000;
/** Numbers listed in one line. */
const NAMED_MAX = 10;

export const ls: Handler<typeof table.ls> = async (context, { flags }) => {
  const query = queryOf(flags);
  const { id } = await context.project();
  const api = await context.api();
  const collection = path`/projects/${id}/change-requests`;
  if (flags.web) return openDashboard(context, api, `${collection}?${new URLSearchParams(query)}`);
  const call = { path: collection, query, slow: true };
  const crs = await api.list<ChangeRequest>(call, "change_requests", flags.limit ?? MANY);
  await context.out.result(crs, (view) => listOf(crs, view));
  if (crs.length === 0) {
    const status = query.status === "all" ? "" : `${query.status} `;
    await context.out.note(`No ${status}change requests${query.q ? " match" : ""}.`);
  }
  const stale = crs.filter((cr) => cr.stale).map(({ number }) => `#${number}`);
  if (stale.length > 0) {
    const named = stale.length > NAMED_MAX ? `${stale.length} change requests` : stale.join(", ");
    await context.out.warn(
      `Not up to date: ${named}. The repository did not respond, or no longer has one of the branches; the commits are the last known ones.`,
    );
  }
  if (flags.limit === undefined && crs.length === MANY) {
    await context.out.warn(`Only the first ${MANY} are shown.`);
  }
};

type Flags = Parameters<Handler<typeof table.ls>>[1]["flags"];

/** The query of the list: the flags as one search. The status is open unless the search has one. */
function queryOf(flags: Flags): { status: CrStatusFilter; q?: string } {
  const search = readSearch(flags.search ?? "");
  const hasStatus = search.terms.some(({ name, value }) => name === "is" && value !== "draft");
  const given: readonly (readonly [Term["name"], string | undefined])[] = [
    ["author", flags.author],
    ["base", flags.base],
    ["head", flags.head],
    ["is", flags.draft ? "draft" : undefined],
    ["assignee", flags.assignee],
    ["review-requested", flags["review-requested"]],
    ...namesIn(flags.label).map((name) => ["label", name] as const),
  ];
  const terms = given.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value, not: false }]));
  const sort = flags.sort ?? search.sort;
  const q = printSearch({ terms: [...search.terms, ...terms], ...(sort && { sort }) });
  return { status: flags.status ?? (hasStatus ? "all" : "open"), ...(q !== "" && { q }) };
}
