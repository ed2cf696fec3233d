import type { DiffRequest, DiffSummary } from "./diff/types.ts";
import type {
  Arrival,
  ArrivalRequest,
  Comparison,
  MergeRequest,
  Relation,
  ReplaceRequest,
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
export type * from "./merge/types.ts";
export type * from "./read/types.ts";
export type * from "./serve/types.ts";

/**
 * What the rest of svc may ask of git. This folder knows repositories, refs and commits; it knows no project, user
 * or table. Every answer is about commits named by full object ids; branch names are checked before they get here
 * (`checkBranchName`) and are never read by git as options or revision expressions.
 *
 * Errors are `SvcError`s with a sentence for the caller: `invalid_repo_url` and `repo_not_allowed` (the guard),
 * `repo_unreachable` (network, host, credential, deadline), `merge_engine_failed` (git ended otherwise than with a
 * verdict: a signal, a limit, an exit status without meaning). No message holds a credential or a path of the server.
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
   * The remote's branches as they are now. Concurrent callers share one listing, and only one that began after they
   * asked: a push that ended before the call is always seen.
   * @param timeoutMs the whole of the wait; past it, `repo_unreachable`.
   */
  listBranches(repo: Repository, timeoutMs: number): Promise<Branches>;

  /**
   * Makes sure that the mirror holds these commits with all their history, fetching when it does not (coalesced). After
   * a failure the next fetch waits; until then its reason is the answer.
   * @returns false when the remote no longer has one of them on any branch or tag.
   */
  ensureCommits(repo: Repository, commits: readonly string[]): Promise<boolean>;

  /** How two commits of the mirror stand to each other: one `git merge-base`, no merge. */
  relate(repo: Repository, base: string, head: string): Promise<Relation>;

  /**
   * A file of a commit of the mirror. Null when the commit has no regular file there.
   * @throws SvcError `merge_engine_failed` when it is larger than `maxBytes`.
   */
  readFile(repo: Repository, commit: string, path: string, maxBytes: number): Promise<Uint8Array | null>;

  /** Whether the mirror holds a commit with all its history, without asking the remote. */
  hasCommit(repo: Repository, commit: string): Promise<boolean>;

  /** The commit that a tag of the repository leads to; null when there is no such tag, or none of a commit. */
  findTag(repo: Repository, name: string): Promise<string | null>;

  /** A part of the commits that are reachable from a commit of the mirror, the newest first. */
  log(repo: Repository, request: LogRequest): Promise<LogPage>;

  /** A part of a directory of a commit of the mirror; null when it has no directory at this path. */
  listDirectory(repo: Repository, request: DirectoryRequest): Promise<DirectoryPage | null>;

  /** What stands at a path of a commit of the mirror; null when nothing does. */
  findEntry(repo: Repository, commit: string, path: Uint8Array): Promise<TreeEntry | null>;

  /** Hands on a directory of a commit of the mirror as a tar. */
  archive(repo: Repository, request: ArchiveRequest): Promise<void>;

  /** Hands on the bytes of a file or symbolic link that `findEntry` found, in order, until it has all or enough. */
  readBlob(repo: Repository, request: BlobRequest): Promise<void>;

  /** The verdict on merging `head` into `base` (spec 2.7); both commits must be in the mirror. Writes nothing. */
  compare(repo: Repository, base: string, head: string): Promise<Comparison>;

  /**
   * Whether `ancestor` is `descendant` or one of its ancestors; both must be in the mirror.
   */
  isAncestor(repo: Repository, ancestor: string, descendant: string): Promise<boolean>;

  /**
   * Which of `heads` are `base`, a commit of the mirror, or among its ancestors, by one look. What the mirror does not
   * hold is none of them.
   */
  reachedFrom(repo: Repository, base: string, heads: readonly string[]): Promise<string[]>;

  /**
   * How a commit came into a branch; all three commits must be in the mirror.
   * @returns null when it was there before, or is not there now
   */
  findArrival(repo: Repository, request: ArrivalRequest): Promise<Arrival | null>;

  /**
   * The diff `from..to` (two commits of the mirror), with `.gitattributes` of `attributes` (a commit: the base tip)
   * and of nothing else. `onPatch` gets the patch's bytes in order, in pieces that never span two files; when it
   * returns false, no more of the patch is handed on, and the list of files still comes whole.
   */
  diff(repo: Repository, request: DiffRequest): Promise<DiffSummary>;

  /**
   * Writes the commit that merges `head` into `base` into the mirror, without a work tree. The same request always
   * gives the same commit: author, committer, date and message are all in it.
   * @returns the merge commit, or the conflicts.
   */
  writeMerge(repo: Repository, request: MergeRequest): Promise<{ commit: string } | { conflicts: string[] }>;

  /**
   * Writes the commit into the mirror that gives one file of a commit of the mirror other bytes. The same request always
   * gives the same commit. No branch moves.
   * @throws SvcError `not_found` when the commit has no such file
   */
  replaceFile(repo: Repository, request: ReplaceRequest): Promise<string>;

  /**
   * Moves a branch of the remote from `from` to `to` as one compare-and-swap.
   * `moved`: the branch is at `to` now. `stale`: it was not at `from`; nothing changed. `rejected`: the host refused,
   * `reason` in its own words without control characters and credentials. `unknown`: the answer was lost; it may or may not have happened.
   */
  push(repo: Repository, request: PushRequest): Promise<PushOutcome>;

  /**
   * Makes a branch at the commit that its base is at now: through the API of the git host where svc knows it, else by
   * a push. A branch that is there already, at the base's tip, is as good as made, so that a call whose answer was
   * lost can be repeated.
   * @returns the commit; the mirror need not hold it.
   * @throws SvcError also `invalid_ref`, `ref_not_found` (no such base), `branch_exists` (at another commit, or in the
   * way), `push_rejected` (the host's own words), `unavailable` (the repository changed at every try)
   */
  createBranch(repo: Repository, request: BranchRequest): Promise<string>;

  /**
   * Makes sure that the mirror holds what one of svc's own refs names: a mirror that was rebuilt gets it from the host,
   * where that took it.
   * @returns false when it is nowhere
   */
  ensureOwn(repo: Repository, ref: string, commit: string): Promise<boolean>;

  /** Keeps commits reachable in the mirror under `refs/cr/<number>/<name>`, whatever happens to the branches. */
  keep(repo: Repository, number: number, commits: Record<"base" | "head" | "merge", string>): Promise<void>;

  /**
   * The answer to `GET info/refs` of git's smart HTTP protocol (gitprotocol-http). The remote's branches and tags are
   * brought here first, as they are now.
   */
  advertise(repo: Repository, request: AdvertiseRequest): Promise<Uint8Array>;

  /**
   * The answer to `POST git-upload-pack`: what a client fetches. It waits for its turn, and ends early when nobody reads.
   * @throws SvcError `payload_too_large`, `request_timeout`, `unavailable`
   */
  upload(repo: Repository, request: UploadRequest): Promise<Transfer>;

  /**
   * The answer to `POST git-receive-pack`: a push. The rules are asked about each ref; a repository on a git host gets
   * the push before the client is told that it was taken.
   * @throws SvcError like `upload`
   */
  receive(repo: Repository, request: ReceiveRequest): Promise<Transfer>;

  /** Makes an empty repository that svc hosts; `branch` is what it is expected to begin with. */
  host(repo: Repository, branch: string): Promise<void>;

  /**
   * Deletes the mirror of a repository, or the repository itself when svc hosts it, for good: a fetch that is under way
   * ends, and later requests for it are `not_found`.
   */
  forget(repoId: string): Promise<void>;

  /** Ends every git process and waits for them. After this, nothing more is started. */
  close(): Promise<void>;
}

/** A repository. `id` (a UUID) names its folder on disk. */
export interface Repository {
  id: string;
  /** Where its host has it: then the folder is a mirror, and can be rebuilt. Null: svc hosts it, and the folder is all there is. */
  url: string | null;
  /** What opens it: user name and password for http(s); for ssh `token` is a private key in OpenSSH form. */
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
  /** The branch that the remote's HEAD names; null when it is detached, hidden or unborn. */
  head: string | null;
  /** Branches that are other names of a branch: writing one writes the other. */
  symbolic: ReadonlyMap<string, string>;
}

export interface PushRequest {
  branch: string;
  /** Null: the branch must not exist yet. */
  from: string | null;
  to: string;
}

/** Short names of branches. */
export interface BranchRequest {
  /** The branch to make. */
  branch: string;
  /** The branch to make it from. */
  base: string;
}

export type PushOutcome =
  | { outcome: "moved" }
  | { outcome: "stale" }
  | { outcome: "rejected"; reason: string }
  | { outcome: "unknown"; reason: string };
