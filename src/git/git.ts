import type { GitBackups } from "./backup/backups.ts";
import type { DiffRequest, DiffSummary, FollowedLines, FollowRequest } from "./diff/types.ts";
import type { HostOutcome, HostStatus } from "./hosts/types.ts";
import type {
  Arrival,
  ArrivalRequest,
  Comparison,
  MergeRequest,
  RebaseRequest,
  Relation,
  ReplaceRequest,
  RevertRequest,
  Written,
} from "./merge/types.ts";
import type {
  ArchiveRequest,
  BlobRequest,
  DirectoryPage,
  DirectoryRequest,
  LogPage,
  LogRequest,
  TreeEntry,
} from "./read/types.ts";
import type { AdvertiseRequest, ReceiveRequest, Transfer, UploadRequest } from "./serve/types.ts";

export type * from "./diff/types.ts";
export type * from "./hosts/types.ts";
export type * from "./merge/types.ts";
export type * from "./read/types.ts";
export type * from "./serve/types.ts";

/**
 * The interface of this folder, which knows repositories, refs and commits, but no projects, users or tables. Commits
 * are named by full object ids; branch names are checked by the caller (`checkBranchName`), so that git never reads them
 * as options or revision expressions.
 *
 * Errors are `SvcError`s with a sentence for the caller: `invalid_repo_url` and `repo_not_allowed` (the guard),
 * `repo_unreachable` (network, host, credential, deadline), `merge_engine_failed` (git ended without a result: a signal,
 * a limit, an unexpected exit status). No message contains a credential or a path of the server.
 */
export interface Git {
  /** The system git's version, such as `2.39.5`. */
  readonly version: string;

  /**
   * Checks a URL given by a user before git sees it, as the guard does again at each use: form, scheme, and — unless
   * the operator allows private addresses — every address that its host resolves to.
   * @returns the canonical URL without credentials, and the credential that it held, if any.
   */
  checkRemote(url: string): Promise<{ url: string; credential: Credential | null }>;

  /**
   * The current branches of the remote. Concurrent callers share a listing only if it began after their calls: a push
   * that ended before the call is always seen.
   * @param timeoutMs of the whole call; then `repo_unreachable`.
   */
  listBranches(repo: Repository, timeoutMs: number): Promise<Branches>;

  /**
   * Makes sure that the mirror holds these commits with all their history, fetching when it does not (coalesced). After
   * a failure the next fetch backs off; until then calls fail for the same reason.
   * @returns false when the remote no longer has one of them on any branch or tag.
   */
  ensureCommits(repo: Repository, commits: readonly string[]): Promise<boolean>;

  /** The relation of two commits of the mirror: one `git merge-base`, no merge. */
  relate(repo: Repository, base: string, head: string): Promise<Relation>;

  /**
   * A file of a commit of the mirror. Null when the commit has no regular file there.
   * @throws SvcError `merge_engine_failed` when it is larger than `maxBytes`.
   */
  readFile(repo: Repository, commit: string, path: string, maxBytes: number): Promise<Uint8Array | null>;

  /** Whether the mirror holds a commit with all its history, without asking the remote. */
  hasCommit(repo: Repository, commit: string): Promise<boolean>;

  /** The commit of a tag; null when the tag does not exist or is not a tag of a commit. */
  findTag(repo: Repository, name: string): Promise<string | null>;

  /** A page of the commits reachable from a commit of the mirror, newest first. */
  log(repo: Repository, request: LogRequest): Promise<LogPage>;

  /** A page of a directory of a commit of the mirror; null when it is not found. */
  listDirectory(repo: Repository, request: DirectoryRequest): Promise<DirectoryPage | null>;

  /** The entry at a path of a commit of the mirror; null when it is not found. */
  findEntry(repo: Repository, commit: string, path: Uint8Array): Promise<TreeEntry | null>;

  /** Streams a directory of a commit of the mirror as a tar. */
  archive(repo: Repository, request: ArchiveRequest): Promise<void>;

  /** Streams a file or symbolic link that `findEntry` found, until the end or until `onBytes` has enough. */
  readBlob(repo: Repository, request: BlobRequest): Promise<void>;

  /** Whether `head` merges into `base` (spec 2.7); both commits must be in the mirror. Writes nothing. */
  compare(repo: Repository, base: string, head: string): Promise<Comparison>;

  /**
   * Whether `ancestor` is `descendant` or one of its ancestors; both must be in the mirror.
   */
  isAncestor(repo: Repository, ancestor: string, descendant: string): Promise<boolean>;

  /**
   * How many commits a branch got when it moved, at most 1,000; both must be in the mirror.
   * @returns null when it lost some: a force push
   */
  countAdded(repo: Repository, from: string, to: string): Promise<number | null>;

  /**
   * Returns those of `heads` that are `base`, a commit of the mirror, or one of its ancestors, in one call. Commits that
   * the mirror does not hold are not.
   */
  reachedFrom(repo: Repository, base: string, heads: readonly string[]): Promise<string[]>;

  /**
   * Finds how a commit got into a branch; all three commits must be in the mirror.
   * @returns null when it was there before, or is not there now
   */
  findArrival(repo: Repository, request: ArrivalRequest): Promise<Arrival | null>;

  /**
   * The diff `from..to` (two commits of the mirror), with `.gitattributes` of `attributes` (a commit: the base tip)
   * and of nothing else. `onPatch` gets the patch's bytes in order, in pieces that never span two files; when it
   * returns false, the rest of the patch is dropped, and the list of files is still complete.
   */
  diff(repo: Repository, request: DiffRequest): Promise<DiffSummary>;

  /**
   * Where lines of a file of one commit are in another one; both must be in the mirror. A renamed file is found.
   * @returns null when the file is gone, is no text, or is too large
   */
  followLines(repo: Repository, request: FollowRequest): Promise<FollowedLines | null>;

  /**
   * Writes the commit that merges `head` into `base` into the mirror, without a work tree. The same request always
   * gives the same commit: author, committer, date and message are all in it.
   * @returns the merge commit, or the conflicts.
   */
  writeMerge(repo: Repository, request: MergeRequest): Promise<Written>;

  /**
   * Writes the same result as one commit on top of `base`.
   * @returns `base` itself when it has all changes of `head` already
   */
  writeSquash(repo: Repository, request: MergeRequest): Promise<Written>;

  /**
   * Writes the commits of `head` on top of `base`, as `git rebase` does; a conflict in any of them stops it. The same
   * request always gives the same commits.
   * @returns the last one; `base` itself when it has all changes of `head` already
   * @throws SvcError also `too_many_commits`
   */
  writeRebase(repo: Repository, request: RebaseRequest): Promise<Written>;

  /**
   * Writes one commit on top of `base` that undoes the change from `before` to `merged`, as `git revert` does. The same
   * request always gives the same commit.
   * @returns `base` itself when there is nothing to undo
   */
  writeRevert(repo: Repository, request: RevertRequest): Promise<Written>;

  /**
   * Writes a commit into the mirror that replaces the bytes of files. The same request always gives the same commit.
   * No branch moves.
   * @throws SvcError `not_found` when the commit has no such file
   */
  replaceFiles(repo: Repository, request: ReplaceRequest): Promise<string>;

  /**
   * Moves, creates or deletes a branch of the remote as one compare-and-swap from `from` to `to`.
   * `moved`: the branch is at `to` now. `stale`: it was not at `from`; nothing changed. `rejected`: the host refused,
   * with its `reason`, redacted. `unknown`: the answer was lost; the branch may or may not have moved.
   */
  push(repo: Repository, request: PushRequest): Promise<PushOutcome>;

  /**
   * Creates a branch at the tip of its base: through the API of the git host if svc supports it, else by a push. A branch
   * that already exists at the base's tip is a success, so that a call whose answer was lost can be repeated.
   * @returns the commit, which may not be in the mirror.
   * @throws SvcError also `invalid_ref`, `ref_not_found` (no such base), `branch_exists` (at another commit, or in the
   * way), `push_rejected` (the host's own words), `unavailable` (the repository changed at every attempt)
   */
  createBranch(repo: Repository, request: BranchRequest): Promise<string>;

  /**
   * The checks of a commit on the repository's host, through its API. Their texts are the host's, unchecked.
   * @throws SvcError `invalid_repo_url`, `repo_not_allowed`: the URL itself
   */
  readStatuses(repo: Repository, commit: string): Promise<HostOutcome<HostStatus[]>>;

  /** Reports the result of a check of a commit to the repository's host; throws as `readStatuses`. */
  reportStatus(repo: Repository, commit: string, status: HostStatus): Promise<HostOutcome<null>>;

  /**
   * Makes sure that the mirror holds the commit of one of svc's own refs: a rebuilt mirror fetches it from the host, if
   * the host accepts such refs.
   * @returns false when it is not found
   */
  ensureOwn(repo: Repository, ref: string, commit: string): Promise<boolean>;

  /**
   * Keeps commits reachable in the mirror under `refs/cr/<number>/<name>`, whatever happens to the branches. Names are
   * `base`, `merge`, and `head/1`, `head/2`, …
   */
  keep(repo: Repository, number: number, commits: Readonly<Record<string, string>>): Promise<void>;

  /**
   * The answer to `GET info/refs` of git's smart HTTP protocol (gitprotocol-http), after a fetch from the remote.
   */
  advertise(repo: Repository, request: AdvertiseRequest): Promise<Uint8Array>;

  /**
   * The answer to `POST git-upload-pack`: what a client fetches. It waits for a slot, and ends early when the client does not read.
   * @throws SvcError `payload_too_large`, `request_timeout`, `unavailable`
   */
  upload(repo: Repository, request: UploadRequest): Promise<Transfer>;

  /**
   * The answer to `POST git-receive-pack`: a push. The rules are checked for each ref; a push to a repository on a git
   * host is forwarded before it is reported to the client.
   * @throws SvcError like `upload`
   */
  receive(repo: Repository, request: ReceiveRequest): Promise<Transfer>;

  /** Creates an empty repository that svc hosts; `branch` is its default branch. */
  host(repo: Repository, branch: string): Promise<void>;

  /**
   * Permanently deletes the mirror of a repository, or the repository itself if svc hosts it: a running fetch ends, and
   * later requests for it are `not_found`.
   */
  forget(repoId: string): Promise<void>;

  readonly backups: GitBackups;

  /** Ends all git processes and waits for them. No process is started afterwards. */
  close(): Promise<void>;
}

/** A repository. `id` (a UUID) names its folder on disk. */
export interface Repository {
  id: string;
  /** Its URL on a git host: then the folder is a mirror and can be rebuilt. Null: svc hosts it, and the folder is the only copy. */
  url: string | null;
  /** User name and password for http(s); for ssh `token` is a private key in OpenSSH form. */
  credential: Credential | null;
}

/** A repository on a git host. */
export type RemoteRepository = Repository & { url: string };

export function isRemote(repo: Repository): repo is RemoteRepository {
  return repo.url !== null;
}

export interface Credential {
  username: string;
  token: string;
}

export interface Branches {
  /** Short branch name → commit. */
  tips: ReadonlyMap<string, string>;
  /** The branch of the remote's HEAD; null when it is detached, hidden or unborn. */
  head: string | null;
  /** Symbolic refs to a branch, by name: a write to one changes the other. */
  symbolic: ReadonlyMap<string, string>;
}

export interface PushRequest {
  branch: string;
  /** Null: the branch must not exist yet. */
  from: string | null;
  /** Null: delete it. */
  to: string | null;
}

/** Short names of branches. */
export interface BranchRequest {
  /** The branch to create. */
  branch: string;
  /** The branch to create it from. */
  base: string;
}

export type PushOutcome =
  | { outcome: "moved" }
  | { outcome: "stale" }
  | { outcome: "rejected"; reason: string }
  | { outcome: "unknown"; reason: string };
