import type { CommitStatus, StatusState } from "../../../src/contract/commit-status.ts";
import type { View } from "../../output.ts";
import { ago, type Column, table } from "../../table-print.ts";

/** A check of a commit; one that is required and not reported has no state yet. */
export type ShownStatus = Pick<CommitStatus, "context" | "description" | "target_url"> & {
  state: StatusState | null;
  updated_at: string | null;
};

export function statusesText(statuses: readonly ShownStatus[], view: View): string {
  return statuses.length === 0 ? "" : table(statuses, COLUMNS, view);
}

function paintOf(state: StatusState | null, { paint }: View): (text: string) => string {
  if (state === "success") return paint.green;
  return state === "failure" || state === "error" ? paint.red : paint.yellow;
}

const COLUMNS: readonly Column<ShownStatus>[] = [
  {
    title: "STATE",
    value: ({ state }) => state ?? "expected",
    paint: ({ state }, view) => paintOf(state, view),
  },
  { title: "CHECK", value: ({ context }) => context, flexible: true },
  {
    title: "REPORTED",
    value: ({ updated_at }) => updated_at ?? "",
    shown: ({ updated_at }, view) => (updated_at === null ? "" : ago(updated_at, view.now)),
  },
  { title: "DESCRIPTION", value: ({ description }) => description ?? "", flexible: true },
  { title: "DETAILS", value: ({ target_url }) => target_url ?? "", flexible: true },
];
