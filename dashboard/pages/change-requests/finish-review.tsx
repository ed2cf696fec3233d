import { useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { ReviewBody } from "../../../src/contract/change-request-review.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { count } from "../../parts/count.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { useDraft } from "../../parts/draft.ts";
import { TextArea } from "../../parts/field.tsx";
import { Visible } from "../../parts/visible.tsx";
import { namesOf } from "./line-threads.tsx";
import type { PendingReview } from "./pending-review.ts";
import { useAct, type Where } from "./queries.ts";

interface Props {
  where: Where;
  cr: ChangeRequest;
  review: PendingReview;
}

/** A button for the dialog that submits the reader's comments with a verdict. */
export function FinishReview({ where, cr, review }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const pending = review.comments.length;
  return (
    <>
      <Button
        look={pending > 0 ? "primary" : "plain"}
        className="min-h-8 whitespace-nowrap py-0.5 text-sm"
        onClick={() => setIsOpen(true)}
      >
        {pending > 0 ? `Finish review (${pending})` : "Review"}
      </Button>
      {isOpen && <Finish {...{ where, cr, review }} onClose={() => setIsOpen(false)} />}
    </>
  );
}

type Event = ReviewBody["event"];

const COMMENT = { value: "COMMENT", label: "Comment", about: "Without approval" } as const;
const VERDICTS: readonly { value: Event; label: string; about: string }[] = [
  COMMENT,
  { value: "APPROVE", label: "Approve", about: "The commit that this page shows" },
  { value: "REQUEST_CHANGES", label: "Request changes", about: "Blocks the merge until they are made" },
];

function Finish({ where, cr, review, onClose }: Props & { onClose: () => void }) {
  const [event, setEvent] = useState<Event>("COMMENT");
  const [summary, keepSummary] = useDraft(`${where.projectId} ${where.cr} review`);
  const act = useAct(where);
  const me = useSignedIn().data?.user?.user_id;
  const { comments } = review;
  const { head_commit_sha: head } = cr;
  const isBlank = summary.trim() === "";
  const isMissing =
    event === "REQUEST_CHANGES" ? isBlank : event === "COMMENT" && isBlank && comments.length === 0;
  const submit = () => {
    const body: ReviewBody = {
      event,
      ...(!isBlank && { body: summary }),
      ...(head !== null && { commit_id: head }),
      comments: comments.map(({ id: _, ...comment }) => comment),
    };
    const onSuccess = () => {
      keepSummary("");
      review.clear();
      onClose();
    };
    act.mutate({ at: "/reviews", body }, { onSuccess });
  };
  return (
    <FormDialog
      title="Finish your review"
      verb="Submit review"
      busy={act.isPending}
      disabled={isMissing}
      error={act.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextArea
        label="Summary"
        hint={
          event === "REQUEST_CHANGES"
            ? "Markdown. Say what has to change."
            : "Markdown, optional with comments."
        }
        value={summary}
        onChange={({ target }) => keepSummary(target.value)}
      />
      {cr.status === "open" && (
        <Choice legend="Verdict" value={event} options={VERDICTS} onChange={setEvent} />
      )}
      {cr.created_by === me && event !== "COMMENT" && (
        <p className="text-muted text-sm">
          It was opened by you or for you: another user must review it, unless svc.toml sets self_approval =
          true.
        </p>
      )}
      {comments.length > 0 && (
        <section aria-label="Pending comments" className="flex flex-col gap-1 text-sm">
          <p className="font-medium">{count(comments.length, "pending comment")}</p>
          <ul className="max-h-48 divide-y divide-line overflow-y-auto rounded-md border border-line">
            {comments.map(({ id, path, commit_id, body, ...lines }) => (
              <li key={id} className="flex flex-wrap items-center gap-x-2 px-2 py-1">
                <span className="wrap-anywhere font-mono">
                  <Visible>{path}</Visible>
                </span>
                <span>{namesOf({ path, ...lines })}</span>
                {commit_id !== head && <Badge look="info">on an earlier commit</Badge>}
                <Button look="quiet" className="ml-auto min-h-7 py-0" onClick={() => review.remove(id)}>
                  Delete
                </Button>
                <span className="min-w-0 grow basis-full truncate text-muted">
                  <Visible>{body}</Visible>
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </FormDialog>
  );
}
