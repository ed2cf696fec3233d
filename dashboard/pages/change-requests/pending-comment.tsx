import { useState } from "react";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { TextComposer } from "./composer.tsx";
import type { PendingComment, PendingReview } from "./pending-review.ts";

/** A comment of the reader's review, which only they can see until they submit it. */
export function PendingCommentView({ comment, review }: { comment: PendingComment; review: PendingReview }) {
  const [isEditing, setIsEditing] = useState(false);
  const { id, body } = comment;
  return (
    <div className="flex flex-col gap-1.5 rounded-md border border-warn border-dashed bg-surface px-3 py-2">
      <div className="flex flex-wrap items-center gap-2 text-muted text-sm">
        <Badge look="warn">Pending</Badge>
        <span>Only you can see this until you finish your review.</span>
        {!isEditing && (
          <span className="ml-auto flex">
            <Button look="quiet" className="text-sm" onClick={() => setIsEditing(true)}>
              Edit
            </Button>
            <Button look="quiet" className="text-sm" onClick={() => review.remove(id)}>
              Delete
            </Button>
          </span>
        )}
      </div>
      {isEditing ? (
        <TextComposer
          draft={`pending ${id} ${comment.commit_id}`}
          label="Edit the comment"
          verb="Save"
          initial={body}
          onSend={(text, done) => {
            review.edit(id, text);
            done();
          }}
          onClose={() => setIsEditing(false)}
        />
      ) : (
        <Markdown>{body}</Markdown>
      )}
    </div>
  );
}
