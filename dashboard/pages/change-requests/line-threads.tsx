import { Composer } from "./composer.tsx";
import type { DiffFile } from "./diff/files.ts";
import type { Lines } from "./diff/rows.ts";
import { suggestionFor } from "./diff/suggest.ts";
import { useAct, type Where } from "./queries.ts";
import { ThreadView } from "./thread-view.tsx";
import type { Thread } from "./threads.ts";

interface Props {
  where: Where;
  file: DiffFile;
  threads: readonly Thread[];
  /** The lines of a comment that is being written. */
  composing: Lines | null;
  onClose: () => void;
}

/** The threads of a line, and a field for a new comment on it, or on several lines that end there. */
export function LineThreads({ where, file, threads, composing, onClose }: Props) {
  const act = useAct(where);
  return (
    <div className="flex max-w-3xl flex-col gap-2">
      {threads.map((thread) => (
        <div key={thread.first.comment_id}>
          {thread.first.start_line !== null && (
            <p className="mb-1 text-muted text-sm">
              Lines {thread.first.start_line} to {thread.first.line}
            </p>
          )}
          <ThreadView where={where} thread={thread} />
        </div>
      ))}
      {composing && (
        <div className="rounded-md border border-line bg-surface p-3">
          <Composer
            draft={draftOf(where, composing)}
            label={`Comment on ${nameOf(composing)}`}
            verb="Comment"
            suggestion={suggestionFor(file, composing)}
            act={act}
            request={(body) => ({ at: "/comments", body: { body, ...composing } })}
            onClose={onClose}
          />
        </div>
      )}
    </div>
  );
}

/** The storage key of the text of a comment on a line, or on lines that end there. */
export function draftOf({ projectId, cr }: Where, { side, line, path }: Lines): string {
  return `${projectId} ${cr} ${side} ${line} ${path}`;
}

function nameOf({ start_line: start, line, side }: Lines): string {
  const lines = start === undefined ? `line ${line}` : `lines ${start} to ${line}`;
  return side === "old" ? `${lines} (before)` : lines;
}
