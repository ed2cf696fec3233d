import type { ChangeRequestDiff } from "../../../src/contract/change-request.ts";
import { usage } from "../../failure.ts";
import { openDashboard } from "../../open-page.ts";
import type { View } from "../../output.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-read.ts";
import { count, oneLine } from "../../text.ts";
import { showPatch } from "../show-patch.ts";
import { filesTable } from "./files.ts";
import { findCr } from "./reference.ts";

export const diff: Handler<typeof table.diff> = async (context, { args, flags }) => {
  const { out } = context;
  if (flags.stat && flags["name-only"]) throw usage("--stat and --name-only cannot be used together.");
  if (flags["since-review"] && flags.since !== undefined)
    throw usage("--since-review and --since cannot be used together.");
  const since = flags["since-review"] ? "review" : flags.since;
  const query = { ...(since !== undefined && { since }), ...(!out.data.json && { renames: "pair" }) };
  const found = await findCr(context, args.cr);
  if (flags.web) return openDashboard(context, found.api, `${found.path}?view=changes`);
  const path = `${found.path}/diff`;
  if (out.data.json || flags.stat || flags["name-only"]) {
    const answer = await found.api.call<ChangeRequestDiff>({ path, query, slow: true });
    return out.result(answer, (view) => (flags.stat ? statOf(answer, view) : namesOf(answer)));
  }
  const patch = await found.api.open({ path, query, accept: "text/x-diff", slow: true });
  await showPatch(context, patch, flags["no-pager"]);
};

const namesOf = ({ files }: ChangeRequestDiff): string =>
  files.map(({ path }) => `${oneLine(path)}\n`).join("");

function statOf({ files, additions, deletions }: ChangeRequestDiff, view: View): string {
  const summary = `${count(files.length, "file")} changed, ${additions} added, ${deletions} removed\n`;
  return filesTable(files, view) + (view.tty ? view.paint.dim(summary) : "");
}
