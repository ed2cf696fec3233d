/** The ways to merge a change request. The first that a project allows is its default. */
export const MERGE_METHODS = ["merge", "squash", "rebase", "ff-only"] as const;
export type MergeMethod = (typeof MERGE_METHODS)[number];
