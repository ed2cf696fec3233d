import type { ChangeRequest } from "../../src/contract/change-request.ts";
import type { Session } from "../../src/contract/session.ts";
import { path } from "../api.ts";
import { usage } from "../failure.ts";
import type { Handler } from "../spec.ts";
import type * as table from "../table/search.ts";
import { readSearch } from "./cr/read-search.ts";
import { CR_COLUMNS } from "./cr/show-cr.ts";
import { kindColumn, listText } from "./cr/work-lists.ts";
import { columnsFor } from "./sessions/show-session.ts";

const LIMIT = 30;

export const search: Handler<typeof table.searchSpec> = async (context, { args, flags }) => {
  const q = args.words.join(" ").trim();
  if (q === "") throw usage("<words> must not be empty.");
  const { terms } = readSearch(q);
  const words = terms.every(({ name, not }) => name === "text" && !not) ? q : null;
  const { id } = await context.project();
  const api = await context.api();
  const limit = flags.limit ?? LIMIT;
  const at = path`/projects/${id}`;
  const [change_requests, sessions] = await Promise.all([
    api.list<ChangeRequest>(
      { path: `${at}/change-requests`, query: { status: "all", q }, slow: true },
      "change_requests",
      limit,
    ),
    words === null
      ? []
      : api.list<Session>({ path: `${at}/sessions`, query: { q: words } }, "sessions", limit),
  ]);
  await context.out.result(
    { change_requests, sessions },
    (view) =>
      listText(
        "Change requests",
        change_requests,
        [...kindColumn<ChangeRequest>("cr", view), ...CR_COLUMNS],
        view,
      ) +
      listText("Sessions", sessions, [...kindColumn<Session>("session", view), ...columnsFor(view)], view),
  );
  if (change_requests.length + sessions.length === 0) await context.out.note("Nothing was found.");
  const cut = Math.max(change_requests.length, sessions.length) === limit;
  if (cut) await context.out.note(`At most ${limit} of each kind are shown: --limit shows more.`);
};
