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

export type Service = "git-upload-pack" | "git-receive-pack";

/** The version of git's protocol that a client asks for; null is the oldest, which all clients speak. */
export type Protocol = "version=2" | "version=1" | null;

export interface AdvertiseRequest {
  service: Service;
  protocol: Protocol;
  /** The branch that a clone checks out. */
  head: string;
  /** One of svc's own refs, which this pusher is told of beside branches and tags. */
  own?: string;
}

/** The body of an answer, and when the work behind it is over. */
export interface Transfer {
  answer: ReadableStream<Uint8Array>;
  ended: Promise<unknown>;
}

/** Begins a transfer when its caller may have one more: a caller has a share of all transfers. */
export type Share = (begin: () => Promise<Transfer>) => Promise<Transfer>;

export interface UploadRequest {
  protocol: Protocol;
  body: ReadableStream<Uint8Array>;
  /** Ends when the client has gone. */
  signal: AbortSignal;
  /** Asked when the client has said what it wants: one that is silent takes nobody's slot. */
  share: Share;
}

export interface ReceiveRequest {
  body: ReadableStream<Uint8Array>;
  judge: PushJudge;
  /** Asked when the commands are in: a push that is silent takes nobody's slot. */
  share: Share;
  /** Told of the refs that have changed, before the client is. */
  changed?(refs: readonly { ref: string; kind: "created" | "changed" | "deleted" }[]): Promise<void>;
  /**
   * One of svc's own refs, which this push is about: it changes here, and what is on a git host gets it afterwards, if
   * the host takes such refs. `changed` is waited for before the client is told.
   */
  own?: { ref: string; changed(commit: string | null): Promise<void> };
}

/** What a push does to a ref. A `rewrite` takes commits away; for a tag, any move is one. */
export type UpdateKind = "create" | "fast-forward" | "rewrite" | "delete";

/** Whether a push may change a ref. Null: it may. Else why not, in a few words, and a sentence that says what to do. */
export type PushJudge = (update: {
  ref: string;
  kind: UpdateKind;
}) => Promise<{ reason: string; advice: string } | null>;

export interface Branches {
  /** Short branch name → commit. */
  tips: ReadonlyMap<string, string>;
  /** The branch that the remote's HEAD names; null when it is detached, hidden or unborn. */
  head: string | null;
  /** Branches that are other names of a branch: writing one writes the other. */
  symbolic: ReadonlyMap<string, string>;
}

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
