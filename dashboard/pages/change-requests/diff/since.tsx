import { useMemo } from "react";
import { useSearchParams } from "wouter";
import type { ChangeRequest } from "../../../../src/contract/change-request.ts";
import { useHeads, type Where } from "../queries.ts";
import type { DiffFile } from "./files.ts";
import { useDiff } from "./load.ts";

/** The number of the head that the diff begins at: the query parameter `since`. */
export function useSince(): [string | null, (since: string) => void] {
  const [address, setAddress] = useSearchParams();
  const setSince = (since: string) =>
    setAddress(
      (before) => {
        if (since === "") before.delete("since");
        else before.set("since", since);
        return before;
      },
      { replace: true },
    );
  return [address.get("since"), setSince];
}

/** Chooses between all changes and those that are new since an earlier head. Without one, there is nothing to choose. */
export function Since({ where }: { where: Where }) {
  const [since, setSince] = useSince();
  const { earlier, reviewed } = useReviewed(where);
  if (earlier.length === 0 && since === null) return null;
  return (
    <select
      aria-label="Which changes"
      className="h-8 rounded-md border border-edge bg-surface px-2 text-sm"
      value={since ?? ""}
      onChange={(event) => setSince(event.target.value)}
    >
      <option value="">All changes</option>
      {reviewed && <option value={reviewed.number}>Since your review</option>}
      {earlier
        .filter((head) => head !== reviewed)
        .map(({ number, commit_sha }) => (
          <option key={number} value={number}>
            Since head {number}: {commit_sha.slice(0, 10)}
          </option>
        ))}
    </select>
  );
}

/** The earlier heads, and the one that the reader has reviewed, unless that is the head now. */
function useReviewed(where: Where) {
  const [newest, ...earlier] = useHeads(where).data?.heads ?? [];
  return { earlier, reviewed: newest?.reviewed ? undefined : earlier.find((head) => head.reviewed) };
}

interface Shown {
  ignoreSpace: boolean;
  since: string | null;
}

/** Tells whether a file has changed since the reader's review, unless the diff shows nothing else. */
export function useNewSinceReview(where: Where, cr: ChangeRequest, { ignoreSpace, since }: Shown) {
  const { reviewed } = useReviewed(where);
  const enabled = reviewed !== undefined && since === null;
  const { data } = useDiff(where.projectId, cr, {
    ...{ ignoreSpace, enabled },
    since: reviewed ? String(reviewed.number) : null,
  });
  const files = enabled ? data?.files : undefined;
  return useMemo(() => {
    const paths = new Set(files?.map(({ path }) => path));
    return ({ path }: DiffFile) => paths.has(path);
  }, [files]);
}
