import { useState } from "react";
import { Link } from "wouter";
import type { Comment } from "../../../src/contract/comment.ts";
import { path } from "../../api/path.ts";
import { useMayManage, useProject } from "../../api/project.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Failure } from "../../parts/notice.tsx";
import { useRestoreFocus } from "../../parts/restore-focus.ts";
import { Visible } from "../../parts/visible.tsx";
import { Composer } from "./composer.tsx";
import { useAct, type Where } from "./queries.ts";
import { mayApply, useSuggestionBatch } from "./suggestion-batch.tsx";

interface Props {
  where: Where;
  comment: Comment;
  /** The first comment of its thread. */
  thread: Comment;
}

/** One comment, which its author may edit and delete; anyone may commit what it suggests. */
export function CommentView({ where, comment, thread }: Props) {
  const { data: signedIn } = useSignedIn();
  const [mode, setMode] = useState<"read" | "edit" | "delete">("read");
  const act = useAct(where);
  const { author, body, created_at, updated_at, comment_id } = comment;
  const mayManage = useMayManage(useProject());
  const isForMe = author.user_id === signedIn?.user?.user_id;
  const mayEdit = isForMe && author.kind === "user";
  const mayDelete = isForMe || mayManage;
  const [item, returnFocus] = useRestoreFocus<HTMLLIElement>();
  const back = () => {
    setMode("read");
    returnFocus();
  };
  return (
    <li ref={item} tabIndex={-1} className="flex flex-col gap-1.5 px-3 py-2 focus-visible:-outline-offset-2">
      <div className="flex flex-wrap items-center gap-2 text-muted text-sm">
        <span className="font-semibold text-ink">
          <Visible>{author.name}</Visible>
        </span>
        {author.kind === "agent" && <AgentBadge projectId={where.projectId} sessionId={author.session_id} />}
        {author.kind === "token" && <Badge look="info">token</Badge>}
        <Ago at={created_at} />
        {updated_at > created_at && <span>(edited)</span>}
        {mode === "read" && (
          <span className="ml-auto flex">
            {mayEdit && (
              <Button look="quiet" className="text-sm" onClick={() => setMode("edit")}>
                Edit
              </Button>
            )}
            {mayDelete && (
              <Button look="quiet" className="text-sm" onClick={() => setMode("delete")}>
                Delete
              </Button>
            )}
          </span>
        )}
      </div>
      {mode === "edit" ? (
        <Composer
          draft={`edit ${comment_id}`}
          label="Edit the comment"
          verb="Save"
          initial={body}
          act={act}
          request={(text) => ({ method: "PATCH", at: `/comments/${comment_id}`, body: { body: text } })}
          onClose={back}
        />
      ) : (
        <Markdown>{body}</Markdown>
      )}
      {mode === "read" && mayApply(comment, thread) && (
        <div className="flex flex-wrap items-center gap-2">
          <Button
            busy={act.isPending}
            onClick={() => act.mutate({ at: `/comments/${comment_id}/apply` }, { onSuccess: returnFocus })}
          >
            Commit suggestion
          </Button>
          <AddToBatch id={comment_id} />
          <Failure error={act.error} />
        </div>
      )}
      {mode === "delete" && (
        <Confirm
          title="Delete this comment?"
          verb="Delete the comment"
          action={act}
          onConfirm={() =>
            act.mutate({ method: "DELETE", at: `/comments/${comment_id}` }, { onSuccess: back })
          }
          onClose={back}
        >
          You cannot undo this.
        </Confirm>
      )}
    </li>
  );
}

function AddToBatch({ id }: { id: string }) {
  const batch = useSuggestionBatch();
  if (batch === null) return null;
  if (batch.has(id)) return <Button onClick={() => batch.remove(id)}>Remove from batch</Button>;
  return (
    <Button disabled={batch.isFull} onClick={() => batch.add(id)}>
      Add to batch
    </Button>
  );
}

/** Marks the work of an agent, with a link to its session. */
export function AgentBadge({ projectId, sessionId }: { projectId: string; sessionId: string | null }) {
  if (sessionId === null) return <Badge look="info">agent</Badge>;
  return (
    <Link href={path`/projects/${projectId}/sessions/${sessionId}`} className="text-info underline">
      agent in its session
    </Link>
  );
}
