import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { Visible, visibleText } from "../../../parts/visible.tsx";
import { Kind } from "./file-head.tsx";
import type { DiffFile } from "./files.ts";
import { type TreeRow, treeRows } from "./tree.ts";

const ROW_PX = 28;
const INDENT_PX = 12;

interface Props {
  files: readonly DiffFile[];
  /** The file in view. */
  current: DiffFile | undefined;
  isViewed: (file: DiffFile) => boolean;
  onPick: (file: DiffFile) => void;
}

/** The files as a tree, with the keys of the WAI-ARIA tree pattern: arrows, Home, End, Enter. */
export function TreeView({ files, current, isViewed, onPick }: Props) {
  const [filter, setFilter] = useState("");
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const wantsFocus = useRef(false);
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
  const stop = Math.min(at, rows.length - 1);
  useEffect(() => {
    const index = rows.findIndex((row) => row.kind === "file" && row.file === current);
    if (index >= 0 && !scroller.current?.contains(document.activeElement)) {
      setAt(index);
      virtual.scrollToIndex(index);
    }
  }, [rows, current, virtual]);
  useEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    scroller.current?.querySelector<HTMLElement>(`[data-index="${stop}"]`)?.focus({ preventScroll: true });
  });
  const go = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    wantsFocus.current = true;
    virtual.scrollToIndex(next);
    setAt(next);
  };
  const fold = (path: string, isOpen: boolean) => {
    const next = new Set(closed);
    if (isOpen) next.delete(path);
    else next.add(path);
    setClosed(next);
  };
  const pick = (row: TreeRow) => {
    if (row.kind === "file") onPick(row.file);
    else fold(row.path, !row.isOpen);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[stop];
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    if (!press(event.key, row)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  /** @returns whether the key was handled */
  const press = (key: string, row: TreeRow): boolean => {
    const isOpen = row.kind === "folder" && row.isOpen;
    if (key === "ArrowDown") go(stop + 1);
    else if (key === "ArrowUp") go(stop - 1);
    else if (key === "Home") go(0);
    else if (key === "End") go(rows.length - 1);
    else if (key === "Enter" || key === " ") pick(row);
    else if (key === "ArrowRight" && isOpen) go(stop + 1);
    else if (key === "ArrowRight" && row.kind === "folder") fold(row.path, true);
    else if (key === "ArrowLeft" && isOpen) fold(row.path, false);
    else if (key === "ArrowLeft") go(parentOf(rows, stop));
    else return false;
    return true;
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
              // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of its rows
              <div
                key={row.kind === "file" ? `f${row.file.index}` : `d${row.path}`}
                role="treeitem"
                aria-level={row.level}
                aria-setsize={row.setSize}
                aria-posinset={row.position}
                aria-selected={isCurrent}
                aria-expanded={row.kind === "folder" ? row.isOpen : undefined}
                data-index={index}
                tabIndex={index === stop ? 0 : -1}
                onClick={() => {
                  setAt(index);
                  pick(row);
                }}
                className="absolute inset-x-0 flex h-[28px] cursor-pointer items-center gap-1.5 rounded-md pr-2 text-sm hover:bg-raised focus-visible:-outline-offset-2 aria-selected:bg-raised aria-selected:font-medium"
                style={{ top: start, paddingLeft: row.level * INDENT_PX - 4 }}
                title={row.kind === "file" ? visibleText(row.file.path) : visibleText(row.path)}
              >
                <RowInside row={row} isViewed={isViewed} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function RowInside({ row, isViewed }: { row: TreeRow; isViewed: Props["isViewed"] }) {
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
      {viewed && (
        <span className="ml-auto text-ok">
          <span aria-hidden="true">✓</span>
          <span className="sr-only">viewed</span>
        </span>
      )}
    </>
  );
}

function parentOf(rows: readonly TreeRow[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let above = index - 1; above >= 0; above--) if ((rows[above]?.level ?? 0) < level) return above;
  return index;
}
