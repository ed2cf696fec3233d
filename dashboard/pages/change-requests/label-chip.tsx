import type { LabelRef } from "../../../src/contract/label.ts";
import { Visible } from "../../parts/visible.tsx";

/** A label. Its color is a dot beside the name, so that the name is readable in both themes whatever the color. */
export function LabelChip({ label: { name, color } }: { label: LabelRef }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1.5 rounded-full border border-edge bg-raised px-2 py-0.5 font-medium text-ink text-xs">
      <span
        aria-hidden="true"
        className="size-2.5 shrink-0 rounded-full border border-edge"
        style={{ backgroundColor: `#${color}` }}
      />
      <span className="wrap-anywhere">
        <Visible>{name}</Visible>
      </span>
    </span>
  );
}
