import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { identify } from "../../identity.ts";
import { ownBranch } from "../../own-branch.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { oneLine } from "../../text.ts";
import { listOfBranch } from "./reference.ts";
import { crColumns, listText, waitsFor } from "./work-lists.ts";

/** Open change requests that are read for each list: an overview, not a list. */
const READ_MAX = 200;

export const status: Handler<typeof table.status> = async (context) => {
  const project = await context.project();
  const api = await context.api();
  const collection = path`/projects/${project.id}/change-requests`;
  const branch = await ownBranch(context, project);
  const list = (query: Record<string, string>) =>
    api.list<ChangeRequest>(
      { path: collection, query: { status: "open", ...query }, slow: true },
      "change_requests",
      READ_MAX,
    );
  const [{ identity }, of_branch, created, open] = await Promise.all([
    identify(api),
    branch === null ? [] : listOfBranch(api, collection, branch, "open"),
    list({ created_by: "me" }),
    list({}),
  ]);
  const me = identity.user_id;
  const to_review = open.filter((cr) => cr.created_by !== me && waitsFor(me, cr));
  await context.out.result(
    { branch, of_branch, created, to_review },
    (view) =>
      listText("Of this branch", of_branch, crColumns("branch", view), view) +
      listText("Opened by you", created, crColumns("cr", view), view) +
      listText("To review", to_review, crColumns("review", view), view),
  );
  await notes(context, branch, { of_branch, created, to_review });
  if (Math.max(open.length, created.length) === READ_MAX)
    await context.out.warn(`Only the newest ${READ_MAX} open change requests were read: svc cr ls`);
};

async function notes(
  { out }: Context,
  branch: string | null,
  lists: Readonly<Record<"of_branch" | "created" | "to_review", readonly ChangeRequest[]>>,
): Promise<void> {
  const { of_branch, created, to_review } = lists;
  if (branch !== null && of_branch.length === 0)
    await out.note(`The branch ${oneLine(branch)} has no change request.`);
  if (created.length === 0) await out.note("You have opened none that is still open.");
  const [first] = to_review;
  await out.note(first ? `Next: svc cr show ${first.number}` : "None waits for your review.");
}
