import { useSearchParams } from "wouter";
import { useHeads, type Where } from "../queries.ts";

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
  const [newest, ...earlier] = useHeads(where).data?.heads ?? [];
  const reviewed = newest?.reviewed ? undefined : earlier.find((head) => head.reviewed);
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
