import { type RefObject, useCallback, useMemo, useState } from "react";
import type { ChangeRequest } from "../../../../src/contract/change-request.ts";
import type { PendingReview } from "../pending-review.ts";
import type { Where } from "../queries.ts";
import type { Thread } from "../threads.ts";
import { useAnnotations } from "./annotations.ts";
import { useLineComments } from "./comments.tsx";
import type { DiffListHandle } from "./diff-list.tsx";
import type { Diff } from "./load.ts";
import type { Lines } from "./rows.ts";

interface CommentsSince {
  where: Where;
  cr: ChangeRequest;
  threads: readonly Thread[];
  since: string | null;
  review: PendingReview;
  /** The diff, once it is loaded. */
  diff: Diff | undefined;
  list: RefObject<DiffListHandle | null>;
}

/** The old side of a diff from an earlier head has other lines than the change request: comments on those need the whole. */
export function useCommentsSince({ since, where, cr, threads, review, list, diff }: CommentsSince) {
  const annotations = useAnnotations(where, cr, diff);
  const shown = useMemo(
    () => (since === null ? threads : threads.filter(({ first }) => first.side !== "old")),
    [threads, since],
  );
  // the lines of the others are those of an earlier head
  const pending = useMemo(
    () =>
      review.comments.filter(
        ({ commit_id, side }) => commit_id === cr.head_commit_sha && (since === null || side !== "old"),
      ),
    [review.comments, cr.head_commit_sha, since],
  );
  const comments = useLineComments(where, { threads: shown, pending, annotations }, review, list);
  const [refusedIn, setRefusedIn] = useState<string | null>(null);
  const { compose } = comments;
  const onComment = useCallback(
    (lines: Lines, instead: Lines | null) => {
      const refuses = since !== null && lines.side === "old";
      setRefusedIn(refuses ? since : null);
      if (!refuses) compose(lines, instead);
    },
    [since, compose],
  );
  return { comments, onComment, isRefused: refusedIn !== null && refusedIn === since };
}
