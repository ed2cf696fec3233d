import { memo, useMemo, useState } from "react";
import { nameOf } from "../../../parts/visible.tsx";
import { type Cell, textOf } from "./cells.ts";
import { emphasize, type Span } from "./emphasis.ts";
import { withoutCr } from "./hidden.ts";
import { piecesOf, type Token } from "./pieces.ts";

/** Longer lines are truncated until the reader expands them. */
const SHOWN_MAX = 2_000;
const NONE: readonly Span[] = [];

/** The text of a line, with syntax colours, highlighted changes and visible control characters. */
export const Code = memo(function Code({ cell, tokens }: { cell: Cell; tokens: readonly Token[] }) {
  const [isWhole, setIsWhole] = useState(false);
  const full = textOf(cell);
  const text = withoutCr(full);
  const shown = isWhole ? text : text.slice(0, SHOWN_MAX);
  const strong = useMemo(() => strongIn(cell), [cell]);
  const pieces = useMemo(() => piecesOf(shown, tokens, strong), [shown, tokens, strong]);
  const ground = cell.sign === "+" ? "bg-added-strong" : "bg-removed-strong";
  return (
    <bdi dir="ltr" className="code">
      {pieces.map(({ at, text: part, token, strong: isStrong, hidden }) =>
        hidden ? (
          <Hidden key={at} name={nameOf(part)} />
        ) : token || isStrong ? (
          <span key={at} className={`${token} ${isStrong ? `rounded-xs ${ground}` : ""}`}>
            {part}
          </span>
        ) : (
          part
        ),
      )}
      {full !== text && cell.sign !== " " && (
        <span className="select-none text-muted" title="A carriage return ends the line (CRLF)">
          ␍
        </span>
      )}
      {shown.length < text.length && (
        <button
          type="button"
          className="ml-2 rounded-sm bg-raised px-1 text-accent underline"
          onClick={() => setIsWhole(true)}
        >
          {text.length - shown.length} more characters
        </button>
      )}
      {cell.remark !== null && <span className="ml-3 select-none text-muted">⊘ {cell.remark}</span>}
    </bdi>
  );
});

function Hidden({ name }: { name: string }) {
  return (
    <span
      className="mx-px rounded-sm border border-danger bg-danger-ground px-0.5 text-danger text-xs"
      title="An invisible character"
    >
      {name}
    </span>
  );
}

function strongIn({ hunk, at, mate, sign }: Cell): readonly Span[] {
  if (mate === null) return NONE;
  const [mine, other] = [textOf({ hunk, at }), textOf({ hunk, at: mate })].map(withoutCr);
  if (mine === undefined || other === undefined) return NONE;
  return sign === "+" ? emphasize(other, mine).added : emphasize(mine, other).removed;
}
