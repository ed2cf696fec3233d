export interface DiffRequest {
  from: string;
  to: string;
  attributes: string;
  /**
   * Ignores white space. A file that differs only in white space is listed, with counts of 0 and no patch. The patch is
   * for reading: it cannot be applied.
   */
  ignoreWhitespace?: boolean;
  /** Pairs a deleted and an added file that are alike, by git's detection of renames. */
  pairRenames?: boolean;
  /** The most files that are listed; past it git is stopped, `truncated` is set, and nothing is counted. */
  maxFiles: number;
  /**
   * Gets a whole file's patch with its entry counted, or, of a file whose patch is longer than DIFF_MAX_BYTES, piece
   * after piece with the same entry. A file whose kind changed (file to symbolic link) has two `diff --git` blocks
   * in one patch. Returns whether more is wanted.
   */
  onPatch(piece: Uint8Array, entry: DiffEntry): boolean | Promise<boolean>;
  signal?: AbortSignal;
}

export interface DiffSummary {
  files: DiffEntry[];
  truncated: boolean;
}

export interface DiffEntry {
  path: Uint8Array;
  status: "added" | "modified" | "deleted" | "renamed";
  /** The name before, of a renamed file. */
  from?: Uint8Array;
  additions: number;
  deletions: number;
  binary: boolean;
}

/** Lines of a file of the commit `from`, counted from 1, to find in the commit `to`. */
export interface FollowRequest {
  from: string;
  to: string;
  path: Uint8Array;
  lines: readonly number[];
}

export interface FollowedLines {
  /** The file's name in `to`. */
  path: Uint8Array;
  /** For each line of the request; null when it was changed or removed. */
  lines: (number | null)[];
}
