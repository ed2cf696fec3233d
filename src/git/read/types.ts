export interface LogRequest {
  commit: string;
  /** Leaves out what this commit reaches. */
  without?: string;
  /** Only commits that changed this file or something below this directory, as `git log -- <path>`; empty: all. */
  path: Uint8Array;
  /** Commits of the list to leave out before the first. */
  skip: number;
  limit: number;
}

export interface LogPage {
  commits: LoggedCommit[];
  more: boolean;
}

export interface LoggedCommit {
  id: string;
  parents: string[];
  author: Signature;
  committer: Signature;
  /** The first paragraph of the message, on one line. */
  subject: string;
  body: string;
  /** The message, or the commit itself, is longer than what is told of it. */
  truncated: boolean;
}

export interface Signature {
  name: string;
  email: string;
  /** Null when the commit gives none that is a date. */
  date: Date | null;
}

export interface DirectoryRequest {
  commit: string;
  /** Without a slash at either end; empty: the root. */
  path: Uint8Array;
  /** Entries to leave out before the first. */
  skip: number;
  limit: number;
}

export interface DirectoryPage {
  entries: TreeEntry[];
  more: boolean;
}

/** What a directory of a commit holds under one name. */
export interface TreeEntry {
  name: Uint8Array;
  type: "file" | "directory" | "symlink" | "submodule";
  /** Six octal digits. */
  mode: string;
  /** In bytes; null for a directory or submodule. */
  size: number | null;
  id: string;
}

export interface ArchiveRequest {
  commit: string;
  /** The id of the directory's tree in `commit`, or `commit` itself for all of it. */
  tree: string;
  /** Answers whether more is wanted. */
  onBytes(bytes: Uint8Array): boolean | Promise<boolean>;
  signal?: AbortSignal;
}

export interface BlobRequest {
  commit: string;
  /** With `id` and `size` of what `findEntry` found in `commit`. */
  entry: TreeEntry;
  /** Answers whether more is wanted. */
  onBytes(bytes: Uint8Array): boolean | Promise<boolean>;
  signal?: AbortSignal;
}
