import type { ReactNode } from "react";
import { Button } from "../../../parts/button.tsx";
import { Visible, visibleText } from "../../../parts/visible.tsx";
import { type Gap, STEP } from "./context.ts";
import type { Direction } from "./expand.ts";
import type { DiffFile } from "./files.ts";
import type { Hunk } from "./patch.ts";
import { Writer } from "./writer.tsx";

/** The position of a hunk in its file, and buttons for the lines before it. */
export function HunkHead({ hunk, path, children }: { hunk: Hunk; path: string; children: ReactNode }) {
  const { header, section } = hunk;
  const place = header.slice(0, header.length - section.length).trim();
  return (
    <div className="flex h-[28px] items-center gap-3 overflow-hidden bg-info-ground px-3 text-info text-xs">
      {children}
      <span className="whitespace-nowrap">{place}</span>
      <span className="truncate">
        <Visible>{section}</Visible>
      </span>
      <Writer hunk={hunk} path={path} />
    </div>
  );
}

/** The end of a file of which the patch has not all lines. */
export function Rest({ children }: { children: ReactNode }) {
  return (
    <div className="flex h-[28px] items-center gap-3 bg-info-ground px-3 text-info text-xs">{children}</div>
  );
}

/**
 * Buttons that show more of the lines that did not change.
 * @param sides those of the gap that have a hunk
 */
export function Expand({
  gap,
  sides,
  onExpand,
}: {
  gap: Gap;
  sides: readonly Exclude<Direction, "all">[];
  onExpand: (direction: Direction) => void;
}) {
  if (gap.hidden === 0) return null;
  const isShort = gap.hidden !== null && gap.hidden <= STEP;
  const offered: readonly Direction[] = isShort ? ["all"] : [...sides, ...(gap.hidden === null ? [] : ALL)];
  return (
    <span className="flex shrink-0 gap-1">
      {offered.map((direction) => (
        <button
          key={direction}
          type="button"
          onClick={() => onExpand(direction)}
          title={TITLES[direction]}
          aria-label={TITLES[direction]}
          className="flex h-6 min-w-6 items-center justify-center rounded-sm px-1 hover:bg-surface"
        >
          <span aria-hidden="true">{MARKS[direction]}</span>
        </button>
      ))}
    </span>
  );
}

const ALL: readonly Direction[] = ["all"];
const MARKS = { below: "↓", above: "↑", all: "↕" } as const;
const TITLES = {
  below: `Show ${STEP} more lines after these`,
  above: `Show ${STEP} more lines before these`,
  all: "Show all hidden lines",
} as const;

export function Remark({ children }: { children: string }) {
  return (
    <p className="border-line border-b bg-surface px-3 py-1 font-sans text-muted text-sm/[20px]">
      {children}
    </p>
  );
}

const REASONS = {
  large: "Large file",
  generated: "Generated file",
} as const;

/** Shown instead of the lines of a file that is collapsed by default. */
export function FoldedFile({ file, onWanted }: { file: DiffFile; onWanted: (file: DiffFile) => void }) {
  if (file.folded === "binary") {
    return (
      <p className="bg-surface px-3 py-6 text-center font-sans text-muted text-sm">Binary file not shown.</p>
    );
  }
  return (
    <div className="flex flex-wrap items-center justify-center gap-3 bg-surface px-3 py-4 font-sans text-muted text-sm">
      <span>
        {REASONS[file.folded ?? "large"]}: {file.additions + file.deletions} changed lines are not shown.
      </span>
      <Button onClick={() => onWanted(file)}>
        Show them
        <span className="sr-only"> in {visibleText(file.path)}</span>
      </Button>
    </div>
  );
}
