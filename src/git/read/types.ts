import type { CommitSignature } from "./commit-signature.ts";

export type { CommitSignature };

export interface LogRequest {
  commit: string;
  /** Excludes the commits reachable from this one. */
  without?: string;
  /** Only commits that changed this file or directory, as `git log -- <path>`; empty: all. */
  path: Uint8Array;
  /** Commits to skip. */
  skip: number;
  limit: number;
  /** Whether to verify the signatures of the commits. */
  signatures?: boolean;
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
  /** The message, or the commit itself, is longer than what is returned. */
  truncated: boolean;
  /** If it was asked for. */
  signature?: CommitSignature;
}

export interface Signature {
  name: string;
  email: string;
  /** Null when the commit has no valid date. */
  date: Date | null;
}

export interface DirectoryRequest {
  commit: string;
  /** Without a slash at either end; empty: the root. */
  path: Uint8Array;
  /** Entries to skip. */
  skip: number;
  limit: number;
}

export interface DirectoryPage {
  entries: TreeEntry[];
  more: boolean;
}

/** An entry of a directory of a commit. */
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
  /** @returns whether more is wanted */
  onBytes(bytes: Uint8Array): boolean | Promise<boolean>;
  signal?: AbortSignal;
}

export interface BlobRequest {
  commit: string;
  /** As returned by `findEntry` for `commit`. */
  entry: TreeEntry;
  /** @returns whether more is wanted */
  onBytes(bytes: Uint8Array): boolean | Promise<boolean>;
  signal?: AbortSignal;
}
