import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import type { ChangeRequest } from "../../../../src/contract/change-request.ts";
import { path } from "../../../api/path.ts";
import { useProject } from "../../../api/project.ts";
import { useKeys } from "../../../parts/keys.ts";
import { Loading } from "../../../parts/loading.tsx";
import { Failure, Notice } from "../../../parts/notice.tsx";
import { useWide } from "../../../parts/wide.ts";
import { FinishReview } from "../finish-review.tsx";
import { usePendingReview } from "../pending-review.ts";
import { useTurns, type Where } from "../queries.ts";
import type { Thread } from "../threads.ts";
import type { useLineComments } from "./comments.tsx";
import { useCommentsSince } from "./comments-since.ts";
import { DiffList, type DiffListHandle } from "./diff-list.tsx";
import { useExpand } from "./expand.ts";
import { FileHead } from "./file-head.tsx";
import type { DiffFile } from "./files.ts";
import { Commits } from "./images.tsx";
import { type Diff, useDiff } from "./load.ts";
import { type OpenFiles, useOpenFiles } from "./open-files.ts";
import { type Place, rowsOf } from "./rows.ts";
import { useNewSinceReview, useSince } from "./since.tsx";
import { Toolbar, useIgnoreSpace, useLayoutChoice } from "./toolbar.tsx";
import { TreeView } from "./tree-view.tsx";
import { Writers } from "./writer.tsx";

/** Height of the sticky toolbar, in pixels. */
const TOOLBAR_PX = 52;

interface Props {
  where: Where;
  cr: ChangeRequest;
  threads: readonly Thread[];
}

/** The diff of a change request, with its threads. */
export function Changes({ where, cr, threads }: Props) {
  const [ignoreSpace] = useIgnoreSpace();
  const [since] = useSince();
  const diff = useDiff(where.projectId, cr, { ignoreSpace, since });
  const { data, error, isPending, isPlaceholderData, refetch } = diff;
  const files = data?.files;
  const isWide = useWide();
  const [layout, setLayout] = useLayoutChoice();
  const split = isWide && layout === "split";
  const list = useRef<DiffListHandle>(null);
  const [current, setCurrent] = useState<DiffFile>();
  const open = useOpenFiles(cr.cr_id);
  const { isViewed, folded } = open;
  const review = usePendingReview(cr);
  const beside = useCommentsSince({ since, where, cr, threads, review, list, diff: data });
  const { comments, onComment, isRefused } = beside;
  const { rows, onExpand, expandError } = useRows({ where, cr, files, split, open, comments, list });
  // keep the collapsed file in view
  useEffect(() => {
    if (rows.length > 0 && folded.current) list.current?.bringBack(folded.current);
    folded.current = null;
  }, [rows, folded]);
  const writers = useWriters(where, cr);
  const commits = useCommits(where, data);
  const isNew = useNewSinceReview(where, cr, { ignoreSpace, since });
  const head = useFileHead(open, isNew);
  useFileInAddress(files, list);
  const step = useFileKeys(files, current, list, open);

  if (isPending) return <Loading what="Loading the changes" />;
  if (!data || !files) return <Failure error={error} retry={() => void refetch()} />;
  const tree = (
    <TreeView {...{ files, current, isViewed, isNew }} onPick={(file) => list.current?.goTo(file)} />
  );
  return (
    <section aria-label="Changes" data-wide="">
      <h2 className="sr-only">Changes</h2>
      <p role="status" className="sr-only">
        {isPlaceholderData ? "Reloading the changes." : ""}
      </p>
      <Toolbar
        where={where}
        finish={<FinishReview {...{ where, cr, review }} />}
        files={files}
        viewed={files.filter(isViewed).length}
        canSplit={isWide}
        layout={layout}
        onLayout={setLayout}
        onStep={step}
      />
      <Notices cr={cr} isCut={data.isCut} isRefused={isRefused} />
      <Failure error={expandError} />
      {!isWide && files.length > 1 && <Above count={files.length}>{tree}</Above>}
      {files.length === 0 && (
        <p className="py-8 text-center text-muted">{since === null ? "No changes." : "Nothing is new."}</p>
      )}
      <div className="flex gap-4">
        {isWide && files.length > 0 && <Beside>{tree}</Beside>}
        <div className="min-w-0 grow">
          <Writers value={writers}>
            <Commits value={commits ?? null}>
              <DiffList
                ref={list}
                rows={rows}
                top={isWide ? TOOLBAR_PX : 0}
                head={head}
                threads={comments.show}
                marked={comments.composing}
                onComment={onComment}
                onWanted={open.want}
                onExpand={onExpand}
                onCurrent={setCurrent}
              />
            </Commits>
          </Writers>
        </div>
      </div>
    </section>
  );
}

/** What the reader has to know of the diff. */
function Notices({ cr, isCut, isRefused }: { cr: ChangeRequest; isCut: boolean; isRefused: boolean }) {
  return (
    <>
      {isCut && (
        <Notice kind="warning">
          The diff is too large for a browser and is truncated. To see all of it, run svc cr diff {cr.number}
        </Notice>
      )}
      {isRefused && <Notice kind="info">To comment on a removed line, show all changes.</Notice>}
    </>
  );
}

/** Renders the header of a file. */
function useFileHead(open: OpenFiles, isNew: (file: DiffFile) => boolean) {
  return useCallback(
    (file: DiffFile) => <FileHead file={file} open={open} isNew={isNew(file)} />,
    [open, isNew],
  );
}

/** The commits of the diff, for its images. */
function useCommits({ projectId }: Where, diff: Diff | undefined) {
  return useMemo(() => diff && { projectId, old: diff.from, new: diff.to }, [diff, projectId]);
}

interface Shown {
  where: Where;
  cr: ChangeRequest;
  files: readonly DiffFile[] | undefined;
  split: boolean;
  open: OpenFiles;
  comments: ReturnType<typeof useLineComments>;
  list: List;
}

/** The rows of the diff, with the lines that the reader has asked for. The first of those gets the focus. */
function useRows({ where, cr, files, split, open: { isOpen, isWanted }, comments: { byPath }, list }: Shown) {
  const wanted = useRef<Place>(null);
  const onShown = useCallback((place: Place) => {
    wanted.current = place;
  }, []);
  const { shown, onExpand, error: expandError } = useExpand(where.projectId, cr, files, onShown);
  const rows = useMemo(
    () => rowsOf(shown ?? [], { split, isOpen, isWanted, threads: byPath }),
    [shown, split, isOpen, isWanted, byPath],
  );
  useEffect(() => {
    if (rows.length > 0 && wanted.current) list.current?.focusLine(wanted.current);
    wanted.current = null;
  }, [rows, list]);
  return { rows, onExpand, expandError };
}

/** The turns that may have written the changes: the newest ones, once they are loaded. */
function useWriters(where: Where, cr: ChangeRequest) {
  const { slug } = useProject();
  const { rows, isSuccess } = useTurns(where, cr.origin_session_id !== null);
  const list = `${path`/projects/${slug}/change-requests/${cr.number}`}?view=turns`;
  return useMemo(() => (isSuccess ? { turns: rows, list } : null), [isSuccess, rows, list]);
}

type List = RefObject<DiffListHandle | null>;

/** Scrolls to the file that the query parameter `file` names. */
function useFileInAddress(files: readonly DiffFile[] | undefined, list: List): void {
  const asked = useSearchParams()[0].get("file");
  const gone = useRef<string>(null);
  useEffect(() => {
    const file = files?.find(({ path }) => path === asked);
    if (!file || gone.current === asked) return;
    gone.current = asked;
    list.current?.goTo(file);
  }, [files, asked, list]);
}

/** The keys of the diff. @returns what moves between files */
function useFileKeys(
  files: readonly DiffFile[] | undefined,
  current: DiffFile | undefined,
  list: List,
  { isOpen, setOpen, isViewed, setViewed }: OpenFiles,
): (by: number) => void {
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
  const here = (act: (file: DiffFile) => void) => {
    const file = list.current?.here();
    if (file) act(file);
  };
  useKeys([
    { key: "j", about: "Next file", run: () => step(1) },
    { key: "k", about: "Previous file", run: () => step(-1) },
    { key: "n", about: "Next change or thread", run: () => list.current?.step(1) },
    { key: "p", about: "Previous change or thread", run: () => list.current?.step(-1) },
    {
      key: "v",
      about: "Mark the file as viewed, or no longer",
      run: () => here((file) => setViewed(file, !isViewed(file))),
    },
    {
      key: "x",
      about: "Collapse or expand the file",
      run: () => here((file) => setOpen(file, !isOpen(file))),
    },
  ]);
  return step;
}

/** The tree of files on narrow screens. */
function Above({ count, children }: { count: number; children: ReactNode }) {
  return (
    <details className="mb-3 rounded-md border border-line bg-surface p-2">
      <summary className="font-medium">Files ({count})</summary>
      <div className="mt-2 flex h-72 flex-col">{children}</div>
    </details>
  );
}

/** The tree of files on wide screens. */
function Beside({ children }: { children: ReactNode }) {
  return (
    <aside
      aria-label="Files"
      className="sticky w-72 shrink-0 self-start"
      style={{ top: TOOLBAR_PX, height: `calc(100dvh - ${TOOLBAR_PX + 12}px)` }}
    >
      {children}
    </aside>
  );
}
