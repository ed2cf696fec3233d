import { useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { Button } from "../../parts/button.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Choose } from "./choose.tsx";
import { LabelChip } from "./label-chip.tsx";
import type { Where } from "./queries.ts";

/** What is chosen for a change request: its field, and its heading. */
const KINDS = [
  ["labels", "Labels"],
  ["assignees", "Assignees"],
  ["requested_reviewers", "Requested reviewers"],
] as const;
export type Kind = (typeof KINDS)[number][0];

/** The labels, assignees and requested reviewers of a change request, each with a button that changes them. */
export function Belonging({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const [changing, setChanging] = useState<Kind | null>(null);
  return (
    <dl className="mt-3 flex flex-wrap gap-x-8 gap-y-2 text-sm">
      {KINDS.map(([kind, title]) => (
        <div key={kind} className="flex min-w-0 flex-wrap items-center gap-1.5">
          <dt className="text-muted">{title}</dt>
          <dd className="flex min-w-0 flex-wrap items-center gap-1.5">
            <Chosen kind={kind} cr={cr} />
            {(kind !== "requested_reviewers" || cr.status === "open") && (
              <Button look="quiet" aria-label={`Edit: ${title}`} onClick={() => setChanging(kind)}>
                Edit
              </Button>
            )}
          </dd>
          {changing === kind && (
            <Choose kind={kind} title={title} where={where} cr={cr} onClose={() => setChanging(null)} />
          )}
        </div>
      ))}
    </dl>
  );
}

function Chosen({ kind, cr }: { kind: Kind; cr: ChangeRequest }) {
  if (cr[kind].length === 0) return <span className="text-muted">none</span>;
  if (kind === "labels") return cr.labels.map((label) => <LabelChip key={label.name} label={label} />);
  return (
    <span className="wrap-anywhere">
      <Visible>{cr[kind].map(({ name }) => name).join(", ")}</Visible>
    </span>
  );
}
