import { TextComposer } from "./composer.tsx";
import type { PlacedAnnotation } from "./diff/annotations.ts";
import type { DiffFile } from "./diff/files.ts";
import type { Lines } from "./diff/rows.ts";
import { suggestionFor } from "./diff/suggest.ts";
import { LineAnnotations } from "./line-annotations.tsx";
import { PendingCommentView } from "./pending-comment.tsx";
import type { PendingComment, PendingReview } from "./pending-review.ts";
import { useAct, type Where } from "./queries.ts";
import { ThreadView } from "./thread-view.tsx";
import type { Thread } from "./threads.ts";

interface Props {
  where: Where;
  file: DiffFile;
  threads: readonly Thread[];
  /** The reader's pending comments on the line, of `review`. */
  pending: readonly PendingComment[];
  annotations: readonly PlacedAnnotation[];
  review: PendingReview;
  /** The lines of a comment that is being written. */
  composing: Lines | null;
  onClose: () => void;
}

/** The annotations and threads of a line, the reader's pending comments, and a field for a new comment on it, or on several lines that end there. */
export function LineThreads({
  where,
  file,
  threads,
  pending,
  annotations,
  review,
  composing,
  onClose,
}: Props) {
  return (
    <div className="flex max-w-3xl flex-col gap-2">
      {annotations.length > 0 && <LineAnnotations annotations={annotations} />}
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
      {pending.map((comment) => (
        <PendingCommentView key={comment.id} comment={comment} review={review} />
      ))}
      {composing && (
        <div className="rounded-md border border-line bg-surface p-3">
          <NewComment {...{ where, file, review, onClose }} lines={composing} />
        </div>
      )}
    </div>
  );
}

type NewCommentProps = Pick<Props, "where" | "file" | "review" | "onClose"> & { lines: Lines };

/** A field for a comment that is sent alone, or with a review. */
function NewComment({ where, file, review, lines, onClose }: NewCommentProps) {
  const act = useAct(where);
  const alone = {
    verb: "Comment",
    onSend: (body: string, done: () => void) =>
      act.mutate({ at: "/comments", body: { body, ...lines } }, { onSuccess: done }),
  };
  const isBegun = review.comments.length > 0;
  const together = {
    verb: isBegun ? "Add to review" : "Start a review",
    onSend(body: string, done: () => void) {
      review.add(lines, body);
      done();
    },
  };
  const [first, other] = isBegun && !review.isFull ? [together, alone] : [alone, together];
  return (
    <TextComposer
      draft={draftOf(where, lines)}
      label={`Comment on ${namesOf(lines)}`}
      suggestion={suggestionFor(file, lines)}
      busy={act.isPending}
      error={act.error}
      {...first}
      {...(!review.isFull && { also: other })}
      onClose={onClose}
    />
  );
}

/** The storage key of the text of a comment on a line, or on lines that end there. */
export function draftOf({ projectId, cr }: Where, { side, line, path }: Lines): string {
  return `${projectId} ${cr} ${side} ${line} ${path}`;
}

/** `line 3`, `lines 3 to 7`, and whether they are those before the change. */
export function namesOf({ start_line: start, line, side }: Lines): string {
  const lines = start === undefined ? `line ${line}` : `lines ${start} to ${line}`;
  return side === "old" ? `${lines} (before)` : lines;
}
