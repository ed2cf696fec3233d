import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import type { ChangeRequest } from "../../../../src/contract/change-request.ts";
import { Loading } from "../../../parts/loading.tsx";
import { Failure, Notice } from "../../../parts/notice.tsx";
import { useWide } from "../../../parts/wide.ts";
import { LineThreads } from "../line-threads.tsx";
import type { Where } from "../queries.ts";
import type { Thread } from "../threads.ts";
import { DiffList, type DiffListHandle } from "./diff-list.tsx";
import { FileHead } from "./file-head.tsx";
import type { DiffFile } from "./files.ts";
import { useDiff } from "./load.ts";
import { type Place, rowsOf } from "./rows.ts";
import { placeKey, threadsByPath, useThreadsByPlace } from "./threads.ts";
import { Toolbar, useLayoutChoice } from "./toolbar.tsx";
import { TreeView } from "./tree-view.tsx";
import { useViewed } from "./viewed.ts";

/** Height of the sticky toolbar, in pixels. */
const TOOLBAR_PX = 52;

interface Props {
  where: Where;
  cr: ChangeRequest;
  threads: readonly Thread[];
}

/** The diff of a change request, with its threads. */
export function Changes({ where, cr, threads }: Props) {
  const [address, setAddress] = useSearchParams();
  const ignoreSpace = address.get("w") === "1";
  const { data, error, isPending, isPlaceholderData, refetch } = useDiff({
    projectId: where.projectId,
    crId: cr.cr_id,
    base: cr.base_commit_sha,
    head: cr.head_commit_sha,
    ignoreSpace,
  });
  const isWide = useWide();
  const [layout, setLayout] = useLayoutChoice();
  const split = isWide && layout === "split";
  const { isViewed, setViewed } = useViewed(cr.cr_id);
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [wanted, setWanted] = useState<ReadonlySet<string>>(new Set());
  const [composing, setComposing] = useState<readonly Place[]>([]);
  const [current, setCurrent] = useState<DiffFile>();
  const list = useRef<DiffListHandle>(null);
  const files = data?.files;

  const isOpen = useCallback(
    (file: DiffFile) => opened.get(file.path) ?? !isViewed(file),
    [opened, isViewed],
  );
  const byPlace = useThreadsByPlace(threads);
  const rows = useMemo(() => {
    const isWanted = (file: DiffFile) => wanted.has(file.path);
    return rowsOf(files ?? [], { split, isOpen, isWanted, threads: threadsByPath(byPlace, composing) });
  }, [files, split, isOpen, wanted, byPlace, composing]);

  const folded = useRef<DiffFile>(null);
  const open = useCallback((file: DiffFile, value: boolean) => {
    if (!value) folded.current = file;
    setOpened((before) => new Map(before).set(file.path, value));
  }, []);
  // keep the collapsed file in view
  useEffect(() => {
    if (rows.length > 0 && folded.current) list.current?.bringBack(folded.current);
    folded.current = null;
  }, [rows]);
  const view = useCallback(
    (file: DiffFile, value: boolean) => {
      setViewed(file, value);
      open(file, !value);
    },
    [setViewed, open],
  );
  const onWanted = useCallback((file: DiffFile) => setWanted((before) => new Set(before).add(file.path)), []);
  const compose = useCallback((place: Place) => {
    setComposing((before) => [...before.filter((each) => placeKey(each) !== placeKey(place)), place]);
  }, []);
  const stopComposing = useCallback((place: Place) => {
    setComposing((before) => before.filter((each) => placeKey(each) !== placeKey(place)));
    list.current?.focusLine(place);
  }, []);

  // the query parameter `file` names the file to scroll to
  const asked = address.get("file");
  const gone = useRef<string>(null);
  useEffect(() => {
    const file = files?.find(({ path }) => path === asked);
    if (!file || gone.current === asked) return;
    gone.current = asked;
    list.current?.goTo(file);
  }, [files, asked]);

  // the next key press may come before the page has scrolled to the last target
  const going = useRef<number>(null);
  useEffect(() => {
    if (current) going.current = null;
  }, [current]);
  const step = (by: number) => {
    const next = files?.[(going.current ?? current?.index ?? 0) + by];
    if (!next) return;
    going.current = next.index;
    list.current?.goTo(next);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "j" || event.key === "n") step(1);
    if (event.key === "k" || event.key === "p") step(-1);
  };

  if (isPending) return <Loading what="Loading the changes" />;
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!files) return null;
  const tree = (
    <TreeView
      files={files}
      current={current}
      isViewed={isViewed}
      onPick={(file) => list.current?.goTo(file)}
    />
  );
  return (
    // focusable, so that its keys work after a click
    <section aria-label="Changes" data-wide="" tabIndex={-1} onKeyDown={onKeyDown} className="outline-none">
      <p role="status" className="sr-only">
        {isPlaceholderData ? "Reloading the changes." : ""}
      </p>
      <Toolbar
        files={files}
        viewed={files.filter(isViewed).length}
        canSplit={isWide}
        layout={layout}
        onLayout={setLayout}
        ignoreSpace={ignoreSpace}
        onIgnoreSpace={(value) =>
          setAddress(
            (before) => {
              if (value) before.set("w", "1");
              else before.delete("w");
              return before;
            },
            { replace: true },
          )
        }
        onStep={step}
      />
      {data.isCut && (
        <Notice kind="warning">
          The diff is too large for a browser and is truncated. To see all of it, run svc cr diff {cr.number}
        </Notice>
      )}
      {!isWide && files.length > 1 && (
        <details className="mb-3 rounded-md border border-line bg-surface p-2">
          <summary className="font-medium">Files ({files.length})</summary>
          <div className="mt-2 flex h-72 flex-col">{tree}</div>
        </details>
      )}
      {files.length === 0 && <p className="py-8 text-center text-muted">No changes.</p>}
      <div className="flex gap-4">
        {isWide && files.length > 0 && (
          <aside
            aria-label="Files"
            className="sticky w-72 shrink-0 self-start"
            style={{ top: TOOLBAR_PX, height: `calc(100dvh - ${TOOLBAR_PX + 12}px)` }}
          >
            {tree}
          </aside>
        )}
        <div className="min-w-0 grow">
          <DiffList
            ref={list}
            rows={rows}
            top={isWide ? TOOLBAR_PX : 0}
            head={(file) => (
              <FileHead
                file={file}
                isOpen={isOpen(file)}
                isViewed={isViewed(file)}
                onOpen={(value) => open(file, value)}
                onViewed={(value) => view(file, value)}
              />
            )}
            threads={(place) => (
              <LineThreads
                where={where}
                place={place}
                threads={byPlace.get(placeKey(place)) ?? []}
                isComposing={composing.some((each) => placeKey(each) === placeKey(place))}
                onClose={() => stopComposing(place)}
              />
            )}
            onComment={compose}
            onWanted={onWanted}
            onCurrent={setCurrent}
          />
        </div>
      </div>
    </section>
  );
}

function isTyping(target: EventTarget): boolean {
  return target instanceof Element && target.closest("textarea, select, input:not([type=checkbox])") !== null;
}
