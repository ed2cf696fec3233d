/** The ways to merge a change request. The first that a project allows is its default. */
export const MERGE_METHODS = ["merge", "squash", "rebase", "ff-only"] as const;
export type MergeMethod = (typeof MERGE_METHODS)[number];

/** What a project allows unless its manifest says otherwise. `merge` includes `ff-only`. */
export const DEFAULT_METHODS = ["merge", "squash", "rebase"] as const satisfies readonly MergeMethod[];

/** Whether a project allows a method: a fast-forward is what `merge` does, too, where it can. */
export function allowsMethod(allowed: readonly MergeMethod[], method: MergeMethod): boolean {
  return allowed.includes(method) || (method === "ff-only" && allowed.includes("merge"));
}
