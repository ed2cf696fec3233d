/** The relation of two commits. */
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
  /** The tip of the branch now. */
  base: string;
  /** Its tip before. */
  since: string;
}

export interface Arrival {
  /** The commit of the branch's own line (first parents) that brought the head: a merge, or the head itself. */
  commit: string;
  /** The tip of the branch before that, as far as is known. */
  base: string;
}

/** Spec 2.7 without the two commits of the request. */
export interface Comparison extends Relation {
  canMerge: boolean;
  /** Paths as git lists them, sorted, unique; U+FFFD stands for bytes that are not UTF-8. */
  conflicts: string[];
}

/** The metadata of a commit that svc writes. */
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

/** The identity and the date are those of the committer; each commit keeps its author. */
export type RebaseRequest = Omit<MergeRequest, "message">;

/** The new tip of the base branch; or the paths in conflict and, of a rebase, the commit of the head that gave them. */
export type Written = { commit: string } | { conflicts: string[]; at?: string };

export interface RevertRequest extends Authored {
  /** The tip of the branch to undo it in. */
  base: string;
  /** The commit with the change, and the one without it. */
  merged: string;
  before: string;
}

export interface ReplaceRequest extends Authored {
  /** The commit with the files, which becomes the parent of the new one. */
  commit: string;
  files: readonly ReplacedFile[];
}

/** An existing regular file, and what it should contain. */
export interface ReplacedFile {
  path: string;
  bytes: Uint8Array;
}
