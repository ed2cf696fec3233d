export interface DiffRequest {
  from: string;
  to: string;
  attributes: string;
  /**
   * White space is no difference. A file that differs in nothing else is listed, counts nothing and has no patch, and the
   * patch is for people: it applies to nothing.
   */
  ignoreWhitespace?: boolean;
  /** At most this many files are listed; past it git is stopped, `truncated` is set, and nothing is counted. */
  maxFiles: number;
  /**
   * Gets a whole file's patch with its entry counted, or, of a file whose patch is longer than DIFF_MAX_BYTES, piece
   * after piece with the entry repeated. A file whose kind changed (file to symbolic link) has two `diff --git` blocks
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
  status: "added" | "modified" | "deleted";
  additions: number;
  deletions: number;
  binary: boolean;
}
