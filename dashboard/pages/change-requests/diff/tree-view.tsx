import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { Visible, visibleText } from "../../../parts/visible.tsx";
import { Kind } from "./file-head.tsx";
import type { DiffFile } from "./files.ts";
import { type TreeRow, treeRows } from "./tree.ts";

const ROW_PX = 28;
const INDENT_PX = 12;
const PICK = new Set(["Enter", " "]);
const FOLD = new Set(["ArrowLeft", "ArrowRight"]);

interface Props {
  files: readonly DiffFile[];
  /** The file in view. */
  current: DiffFile | undefined;
  isViewed: (file: DiffFile) => boolean;
  /** Whether a file has changed since the reader's review. */
  isNew: (file: DiffFile) => boolean;
  onPick: (file: DiffFile) => void;
}

/** The files as a tree, with the keys of the WAI-ARIA tree pattern: arrows, Home, End, Enter. */
export function TreeView({ files, current, isViewed, isNew, onPick }: Props) {
  const [filter, setFilter] = useState("");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const scroller = useRef<HTMLDivElement>(null);
  const wanted = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    return files.filter(({ path }) => words.every((word) => path.toLowerCase().includes(word)));
  }, [files, filter]);
  const rows = useMemo(() => treeRows(wanted, closed), [wanted, closed]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  const { stop, setStop, go } = useTabStop(rows, current, virtual);
  const pick = (row: TreeRow) => {
    if (row.kind === "file") return onPick(row.file);
    const next = new Set(closed);
    if (row.isOpen) next.add(row.path);
    else next.delete(row.path);
    setClosed(next);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[stop];
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    const target = targetOf(event.key, rows, stop);
    if (target !== null) go(target);
    else if (PICK.has(event.key) || (row.kind === "folder" && FOLD.has(event.key))) pick(row);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="flex max-h-full min-h-0 flex-col gap-2">
      <input
        type="search"
        aria-label="Filter files"
        placeholder="Filter files"
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
        className="w-full rounded-md border border-edge bg-surface px-2 py-1 text-sm placeholder:text-muted"
      />
      <p role="status" className="sr-only">
        {filter && `${wanted.length} of ${files.length} files`}
      </p>
      {rows.length === 0 && <p className="px-2 text-muted text-sm">No path matches the filter.</p>}
      <div ref={scroller} className="min-h-0 overflow-y-auto">
        <div
          role="tree"
          aria-label="Changed files"
          tabIndex={-1}
          onKeyDown={onKeyDown}
          className="relative"
          style={{ height: virtual.getTotalSize() }}
        >
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (!row) return null;
            const isCurrent = row.kind === "file" && row.file === current;
            return (
              <TreeItem
                key={row.kind === "file" ? `f${row.file.index}` : `d${row.path}`}
                {...{ row, index, start, isCurrent, isViewed, isNew }}
                isStop={index === stop}
                onPick={() => {
                  setStop(index);
                  pick(row);
                }}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** The row where the Tab key stops: the file in view, until the reader moves with the keys of the tree. */
function useTabStop(
  rows: readonly TreeRow[],
  current: DiffFile | undefined,
  virtual: Virtualizer<HTMLDivElement, Element>,
) {
  const [at, setStop] = useState(0);
  const wantsFocus = useRef(false);
  const stop = Math.min(at, rows.length - 1);
  useEffect(() => {
    const index = rows.findIndex((row) => row.kind === "file" && row.file === current);
    if (index >= 0 && !virtual.scrollElement?.contains(document.activeElement)) {
      setStop(index);
      virtual.scrollToIndex(index);
    }
  }, [rows, current, virtual]);
  useEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    virtual.scrollElement
      ?.querySelector<HTMLElement>(`[data-index="${stop}"]`)
      ?.focus({ preventScroll: true });
  });
  const go = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    wantsFocus.current = true;
    virtual.scrollToIndex(next);
    setStop(next);
  };
  return { stop, setStop, go };
}

/** The row to which a key moves; null if the key does not move. */
function targetOf(key: string, rows: readonly TreeRow[], from: number): number | null {
  const row = rows[from];
  const isOpen = row?.kind === "folder" && row.isOpen;
  if (key === "ArrowDown" || (key === "ArrowRight" && isOpen)) return from + 1;
  if (key === "ArrowUp") return from - 1;
  if (key === "Home") return 0;
  if (key === "End") return rows.length - 1;
  return key === "ArrowLeft" && !isOpen ? parentOf(rows, from) : null;
}

function parentOf(rows: readonly TreeRow[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let above = index - 1; above >= 0; above--) if ((rows[above]?.level ?? 0) < level) return above;
  return index;
}

interface TreeItemProps extends Pick<Props, "isViewed" | "isNew"> {
  row: TreeRow;
  index: number;
  /** Distance from the top of the tree, in pixels. */
  start: number;
  isCurrent: boolean;
  isStop: boolean;
  onPick: () => void;
}

function TreeItem({ row, index, start, isCurrent, isStop, isViewed, isNew, onPick }: TreeItemProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of its rows
    <div
      role="treeitem"
      aria-level={row.level}
      aria-setsize={row.setSize}
      aria-posinset={row.position}
      aria-selected={isCurrent}
      aria-expanded={row.kind === "folder" ? row.isOpen : undefined}
      data-index={index}
      tabIndex={isStop ? 0 : -1}
      onClick={onPick}
      className="absolute inset-x-0 flex h-[28px] cursor-pointer items-center gap-1.5 rounded-md pr-2 text-sm hover:bg-raised focus-visible:-outline-offset-2 aria-selected:bg-raised aria-selected:font-medium"
      style={{ top: start, paddingLeft: row.level * INDENT_PX - 4 }}
      title={visibleText(row.kind === "file" ? row.file.path : row.path)}
    >
      <RowInside {...{ row, isViewed, isNew }} />
    </div>
  );
}

function RowInside({ row, isViewed, isNew }: Pick<TreeItemProps, "row" | "isViewed" | "isNew">) {
  const name = (
    <span className="min-w-0 truncate">
      <Visible>{row.name}</Visible>
    </span>
  );
  if (row.kind === "folder") {
    return (
      <>
        <span aria-hidden="true" className={`w-3 shrink-0 text-muted ${row.isOpen ? "rotate-90" : ""}`}>
          ›
        </span>
        {name}
        <span className="ml-auto text-muted text-xs tabular-nums">
          {row.files}
          <span className="sr-only"> {row.files === 1 ? "file" : "files"}</span>
        </span>
      </>
    );
  }
  const viewed = isViewed(row.file);
  return (
    <>
      <Kind file={row.file} />
      <span className={`min-w-0 truncate ${viewed ? "text-muted" : ""}`}>{name}</span>
      {isNew(row.file) && (
        <span className="ml-auto text-warn" title="Changed since your review">
          <span aria-hidden="true">●</span>
          <span className="sr-only">changed since your review</span>
        </span>
      )}
      {viewed && (
        <span className="ml-auto text-ok">
          <span aria-hidden="true">✓</span>
          <span className="sr-only">viewed</span>
        </span>
      )}
    </>
  );
}
