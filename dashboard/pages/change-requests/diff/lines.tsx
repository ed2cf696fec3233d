import { memo } from "react";
import type { Cell } from "./cells.ts";
import { Code } from "./code.tsx";
import type { DiffFile } from "./files.ts";
import type { Token } from "./pieces.ts";
import { nameOn, type Place } from "./rows.ts";

const GROUNDS = { " ": "bg-surface", "+": "bg-added", "-": "bg-removed" } as const;
/** Numbers are generated content, so that they are neither copied nor part of the name of the button. */
const NUMBER = "inline-block w-11 shrink-0 pr-1.5 text-right before:content-[attr(data-number)]";
const NO_TOKENS: readonly Token[] = [];

interface Props {
  file: DiffFile;
  colours: readonly (readonly Token[])[];
  /** Whether the Tab key stops here. Arrow keys move between lines. */
  isStop: boolean;
  onComment: (place: Place) => void;
}

/** A line of the unified layout. */
export const Line = memo(function Line({ cell, file, colours, isStop, onComment }: Props & { cell: Cell }) {
  return (
    <div className={`flex min-h-[20px] ${GROUNDS[cell.sign]}`}>
      <Gutter cell={cell} file={file} isStop={isStop} onComment={onComment} numbers={[cell.old, cell.new]} />
      <Text cell={cell} colours={colours} />
    </div>
  );
});

/** A line of the split layout. */
export const Pair = memo(function Pair({
  left,
  right,
  file,
  colours,
  isStop,
  onComment,
}: Props & { left: Cell | null; right: Cell | null }) {
  const half = (cell: Cell | null, side: Place["side"]) =>
    cell === null ? (
      <div className="min-h-[20px] bg-raised/60" />
    ) : (
      <div className={`flex min-h-[20px] min-w-0 ${GROUNDS[cell.sign]}`}>
        <Gutter
          cell={cell}
          file={file}
          side={side}
          isStop={isStop && (side === "new" || right === null)}
          onComment={onComment}
          numbers={[side === "old" ? cell.old : cell.new]}
        />
        <Text cell={cell} colours={colours} />
      </div>
    );
  return (
    <div className="grid grid-cols-2 divide-x divide-line">
      {half(left, "old")}
      {half(right, "new")}
    </div>
  );
});

interface GutterProps extends Omit<Props, "colours"> {
  cell: Cell;
  side?: Place["side"];
  numbers: (number | null)[];
}

const SIGN_LABELS = { " ": "", "+": ", added", "-": ", removed" } as const;

/** The numbers of a line, which are the button for a comment on it. */
function Gutter({
  cell,
  file,
  side = cell.new === null ? "old" : "new",
  numbers,
  isStop,
  onComment,
}: GutterProps) {
  const line = (side === "old" ? cell.old : cell.new) ?? 0;
  return (
    <button
      type="button"
      data-line={side}
      tabIndex={isStop ? 0 : -1}
      aria-label={`Comment on line ${line}${SIGN_LABELS[cell.sign]}`}
      onClick={() => onComment({ path: nameOn(file, side), side, line })}
      className="group/gutter relative flex shrink-0 select-none items-start border-line border-r text-muted text-xs/[20px] hover:text-ink focus-visible:-outline-offset-2"
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
