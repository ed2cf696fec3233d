import { useState } from "react";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { useRestoreFocus } from "../../parts/restore-focus.ts";
import { CommentView } from "./comment-view.tsx";
import { Composer } from "./composer.tsx";
import { useAct, type Where } from "./queries.ts";
import type { Thread } from "./threads.ts";

/** A thread: its comments, with buttons to reply and to resolve it. A resolved thread is collapsed. */
export function ThreadView({ where, thread: { first, replies } }: { where: Where; thread: Thread }) {
  const [isOpen, setIsOpen] = useState<boolean | null>(null);
  const [isReplying, setIsReplying] = useState(false);
  const act = useAct(where);
  const [root, returnFocus] = useRestoreFocus<HTMLDivElement>();
  const isResolved = first.resolved_at !== null;
  if (!(isOpen ?? !isResolved)) {
    return (
      <div
        ref={root}
        tabIndex={-1}
        data-thread=""
        className="flex flex-wrap items-center gap-2 rounded-md border border-line bg-surface px-3 py-2 text-muted text-sm"
      >
        <Badge look="ok">Resolved</Badge>
        <span className="min-w-0 grow truncate">{first.author.name}</span>
        <Button
          look="quiet"
          onClick={() => {
            setIsOpen(true);
            returnFocus();
          }}
        >
          Show {replies.length + 1} {replies.length === 0 ? "comment" : "comments"}
        </Button>
      </div>
    );
  }
  const stopReplying = () => {
    setIsReplying(false);
    returnFocus();
  };
  const resolve = () =>
    act.mutate(
      { at: `/comments/${first.comment_id}/${isResolved ? "unresolve" : "resolve"}` },
      {
        onSuccess: () => {
          setIsOpen(null);
          returnFocus();
        },
      },
    );
  return (
    <div ref={root} tabIndex={-1} data-thread="" className="rounded-md border border-line bg-surface">
      <ul className="divide-y divide-line">
        {[first, ...replies].map((comment) => (
          <CommentView key={comment.comment_id} where={where} comment={comment} thread={first} />
        ))}
      </ul>
      <div className="flex flex-col gap-2 border-line border-t p-2">
        {isReplying ? (
          <Composer
            draft={`reply ${first.comment_id}`}
            label="Reply"
            verb="Reply"
            act={act}
            request={(body) => ({ at: "/comments", body: { body, reply_to: first.comment_id } })}
            onClose={stopReplying}
          />
        ) : (
          <div className="flex flex-wrap items-center gap-2">
            <Button onClick={() => setIsReplying(true)}>Reply</Button>
            <Button look="quiet" busy={act.isPending} onClick={resolve}>
              {isResolved ? "Unresolve" : "Resolve"}
            </Button>
            {isResolved && <Badge look="ok">Resolved</Badge>}
          </div>
        )}
        {!isReplying && <Failure error={act.error} />}
      </div>
    </div>
  );
}
