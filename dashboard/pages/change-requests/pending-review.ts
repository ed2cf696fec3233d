import { useEffect, useMemo, useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { arrayOf, field, numberField, parseJson, textField } from "../../../src/contract/json.ts";
import { REVIEW_COMMENTS_MAX } from "../../../src/contract/limits.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { forget, readStored, store } from "../../parts/stored.ts";
import type { Lines } from "./diff/rows.ts";

/** A comment of a review that is not submitted yet. */
export interface PendingComment extends Lines {
  id: number;
  /** The head commit that has the lines. */
  commit_id: string;
  /** Markdown. */
  body: string;
}

export interface PendingReview {
  comments: readonly PendingComment[];
  /** Whether it has as many comments as a review can have. */
  isFull: boolean;
  add(lines: Lines, body: string): void;
  edit(id: number, body: string): void;
  remove(id: number): void;
  clear(): void;
}

/**
 * The review that the reader is writing. It is stored in this browser, like the marks of viewed files: it survives a reload
 * and nobody else can read it, which on the server would need rows that every list, count and search of comments leaves
 * out. The price is that another browser does not have it.
 */
export function usePendingReview({ cr_id, head_commit_sha }: ChangeRequest): PendingReview {
  const reader = useSignedIn().data?.user?.user_id ?? "";
  const key = `svc-review:${reader}:${cr_id}`;
  const [known, setKnown] = useState<{ key: string; comments: readonly PendingComment[] }>();
  const stored = useMemo(() => read(key), [key]);
  const comments = known?.key === key ? known.comments : stored;
  useEffect(() => {
    // another tab has changed it
    const onStorage = (event: StorageEvent) => {
      if (event.key === key) setKnown({ key, comments: read(key) });
    };
    window.addEventListener("storage", onStorage);
    return () => window.removeEventListener("storage", onStorage);
  }, [key]);
  return useMemo(() => {
    const change = (after: readonly PendingComment[]) => {
      setKnown({ key, comments: after });
      if (after.length === 0) forget(key);
      else store(key, JSON.stringify(after));
    };
    return {
      comments,
      isFull: comments.length >= REVIEW_COMMENTS_MAX,
      add(lines, body) {
        const id = Math.max(0, ...comments.map((each) => each.id)) + 1;
        change([...comments, { ...lines, id, body, commit_id: head_commit_sha ?? "" }]);
      },
      edit: (id, body) => change(comments.map((each) => (each.id === id ? { ...each, body } : each))),
      remove: (id) => change(comments.filter((each) => each.id !== id)),
      clear: () => change([]),
    };
  }, [comments, key, head_commit_sha]);
}

function read(key: string): PendingComment[] {
  return arrayOf(parseJson(readStored(key) ?? "")).flatMap((each): PendingComment[] => {
    const [id, line, start] = ["id", "line", "start_line"].map((name) => numberField(each, name));
    if (id == null || line == null) return [];
    const side = field(each, "side") === "old" ? "old" : "new";
    const [path, body, commit_id] = [
      textField(each, "path"),
      textField(each, "body"),
      textField(each, "commit_id"),
    ];
    return [{ id, path, side, line, ...(start != null && { start_line: start }), commit_id, body }];
  });
}
