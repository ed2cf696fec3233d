import type { ChangeRequestHead } from "../../../src/contract/change-request-head.ts";
import type { Handler } from "../../spec.ts";
import type * as spec from "../../table/cr-review.ts";
import { ago, type Column, table } from "../../table-print.ts";
import { findCr } from "./reference.ts";

/** Heads that are listed; the rest is in the REST API. */
const HEADS_MAX = 1_000;

export const heads: Handler<typeof spec.heads> = async (context, { args }) => {
  const { api, path } = await findCr(context, args.cr);
  const found = await api.list<ChangeRequestHead>({ path: `${path}/heads` }, "heads", HEADS_MAX);
  await context.out.result(found, (view) => (found.length === 0 ? "" : table(found, COLUMNS, view)));
};

const COLUMNS: Column<ChangeRequestHead>[] = [
  { title: "HEAD", value: ({ number }) => String(number) },
  {
    title: "COMMIT",
    value: ({ commit_sha }) => commit_sha,
    shown: ({ commit_sha }) => commit_sha.slice(0, 10),
  },
  {
    title: "SEEN",
    value: ({ seen_at }) => seen_at,
    shown: ({ seen_at }, view) => ago(seen_at, view.now),
  },
  { title: "REVIEWED", value: ({ reviewed }) => (reviewed ? "by you" : "") },
];
