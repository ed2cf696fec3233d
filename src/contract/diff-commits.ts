/**
 * Headers of a patch: the commits between which it is. The first is the merge base, or an earlier head of a change request,
 * or the id of the empty tree.
 */
export const DIFF_FROM = "Svc-Diff-From";
export const DIFF_TO = "Svc-Diff-To";
/** Header of the patch of a workspace: the number of changed files that are too large to be in it, or too many. */
export const PATCH_OMITTED = "Svc-Patch-Omitted";
