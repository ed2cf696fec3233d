import { memo } from "react";
import type { Cell } from "./cells.ts";
import { Code } from "./code.tsx";
import type { Token } from "./pieces.ts";
import type { Place } from "./rows.ts";

const GROUNDS = { " ": "bg-surface", "+": "bg-added", "-": "bg-removed" } as const;
const MARKED = "bg-warn-ground";
/** Numbers are generated content, so that they are neither copied nor part of the name of the button. */
const NUMBER = "inline-block w-11 shrink-0 pr-1.5 text-right before:content-[attr(data-number)]";
const NO_TOKENS: readonly Token[] = [];

interface Props {
  colours: readonly (readonly Token[])[];
  /** Whether the Tab key stops here. Arrow keys move between lines. */
  isStop: boolean;
}

/**
 * A line of the unified layout.
 * @param isMarked whether it is selected, or has a comment that is being written
 */
export const Line = memo(function Line({
  cell,
  colours,
  isStop,
  isMarked,
}: Props & { cell: Cell; isMarked: boolean }) {
  return (
    <div className={`flex min-h-[20px] ${isMarked ? MARKED : GROUNDS[cell.sign]}`}>
      <Gutter cell={cell} isStop={isStop} isMarked={isMarked} numbers={[cell.old, cell.new]} />
      <Text cell={cell} colours={colours} />
    </div>
  );
});

interface PairProps extends Props {
  left: Cell | null;
  right: Cell | null;
  isLeftMarked: boolean;
  isRightMarked: boolean;
}

/** A line of the split layout. */
export const Pair = memo(function Pair({
  left,
  right,
  colours,
  isStop,
  isLeftMarked,
  isRightMarked,
}: PairProps) {
  const half = (cell: Cell | null, side: Place["side"], isMarked: boolean) =>
    cell === null ? (
      <div className="min-h-[20px] bg-raised/60" />
    ) : (
      <div className={`flex min-h-[20px] min-w-0 ${isMarked ? MARKED : GROUNDS[cell.sign]}`}>
        <Gutter
          cell={cell}
          side={side}
          isStop={isStop && (side === "new" || right === null)}
          isMarked={isMarked}
          numbers={[side === "old" ? cell.old : cell.new]}
        />
        <Text cell={cell} colours={colours} />
      </div>
    );
  return (
    <div className="grid grid-cols-2 divide-x divide-line">
      {half(left, "old", isLeftMarked)}
      {half(right, "new", isRightMarked)}
    </div>
  );
});

interface GutterProps {
  cell: Cell;
  side?: Place["side"];
  isStop: boolean;
  isMarked: boolean;
  numbers: (number | null)[];
}

const SIGN_LABELS = { " ": "", "+": ", added", "-": ", removed" } as const;

/** The numbers of a line, which are the button for a comment on it. The list of rows handles its clicks. */
function Gutter({ cell, side = cell.new === null ? "old" : "new", isStop, isMarked, numbers }: GutterProps) {
  const line = (side === "old" ? cell.old : cell.new) ?? 0;
  return (
    <button
      type="button"
      data-line={side}
      data-marked={isMarked || undefined}
      tabIndex={isStop ? 0 : -1}
      aria-label={`Comment on line ${line}${SIGN_LABELS[cell.sign]}`}
      className="group/gutter relative flex shrink-0 select-none items-start border-line border-r text-muted text-xs/[20px] hover:text-ink focus-visible:-outline-offset-2 data-marked:text-ink data-marked:shadow-[inset_3px_0_0_var(--color-warn)]"
    >
      {numbers.map((number, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the old number, then the new one
        <span key={i} className={NUMBER} data-number={number ?? ""} />
      ))}
      <span
        aria-hidden="true"
        className="absolute top-0.5 -right-2 z-10 hidden size-4 items-center justify-center rounded-sm bg-accent font-bold text-on-accent text-xs leading-none before:content-['+'] group-hover/gutter:flex group-focus-visible/gutter:flex"
      />
    </button>
  );
}

function Text({ cell, colours }: { cell: Cell; colours: Props["colours"] }) {
  return (
    <div className="flex min-w-0 grow">
      <span className="w-5 shrink-0 select-none text-center text-muted">{cell.sign}</span>
      <span className="wrap-anywhere min-w-0 grow whitespace-pre-wrap pr-2">
        <Code cell={cell} tokens={colours[cell.at] ?? NO_TOKENS} />
      </span>
    </div>
  );
}
