/** How two commits stand to each other. */
export interface Relation {
  /** The first that `git merge-base` prints; null when the histories are unrelated. */
  mergeBase: string | null;
  /** Head is `base` or an ancestor of it. */
  isUpToDate: boolean;
  /** Head is strictly ahead of base. */
  canFastForward: boolean;
}

export interface ArrivalRequest {
  head: string;
  /** Where the branch is now. */
  base: string;
  /** Where it was before. */
  since: string;
}

export interface Arrival {
  /** The commit of the branch's own line (first parents) that brought the head: a merge, or the head itself. */
  commit: string;
  /** Where the branch was before that, as far as is known. */
  base: string;
}

/** Spec 2.7 without the two commits that were asked about. */
export interface Comparison extends Relation {
  canMerge: boolean;
  /** Paths as git lists them, sorted, unique; U+FFFD stands for bytes that are not UTF-8. */
  conflicts: string[];
}

/** What a commit that svc writes says of itself. */
export interface Authored {
  message: string;
  /** Author and committer, and the date of both in whole seconds. */
  identity: { name: string; email: string };
  date: Date;
}

export interface MergeRequest extends Authored {
  base: string;
  head: string;
}

export interface ReplaceRequest extends Authored {
  /** The commit whose file it is, and the parent of the new one. */
  commit: string;
  /** Of a regular file that is there. */
  path: string;
  bytes: Uint8Array;
}
