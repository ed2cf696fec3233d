/** Limits on one git process and on all of them. Tests lower some. */
export interface GitLimits {
  /** Listing a remote's branches: one round trip to a healthy host takes well under a second, but a busy machine is slow. */
  listMs: number;
  /** The same without movement. */
  listStillMs: number;
  /** A whole fetch: long enough for the first copy of a very large repository. */
  fetchMs: number;
  /** The same without movement: a host that packs a large repository is silent for a while. */
  fetchStillMs: number;
  /** Waiting for a fetch that has failed before: then callers get the last reason, and the fetch goes on. */
  retryWaitMs: number;
  /** A merge and the questions about it. Ordinary merges take 2–20 ms. */
  mergeMs: number;
  /** All steps of a rebase, each of which is limited as a merge is. */
  rebaseMs: number;
  /** The time that git itself may spend on a diff or a file; waiting for a slow reader is not counted. */
  diffMs: number;
  /** A diff or a file including its reader: a slow reader loses its slot after this. */
  diffWallMs: number;
  pushMs: number;
  /** The same without movement: a host may run hooks meanwhile. */
  pushStillMs: number;
  /** Creating a branch through a git host's API, both calls: then svc pushes instead. */
  apiMs: number;
  /** An answer of a git host's API, in bytes: a branch's is a few kilobytes. */
  apiBytes: number;
  /** The same for a list of checks, some of which have long texts. */
  apiListBytes: number;
  /** Bytes of one push, and the time that checking it may take. */
  packBytes: number;
  packMs: number;
  /** Forwarding a push to the host: as long as the client itself may take. */
  forwardMs: number;
  /** A whole transfer to or from a client, and how long the client may be silent in it. */
  transferMs: number;
  stallMs: number;
  /** For the commands of a push, which a client sends before its push takes a slot. */
  commandsMs: number;
  /** Inflated bytes of the objects of one push: the larger of a fixed size and a multiple of the bytes sent. */
  inflatedBytes: number;
  inflatedRatio: number;
  /** Transfers that run at the same time, in all and for one repository; others wait. Pushes never stop reads. */
  reads: number;
  readsPerRepository: number;
  pushes: number;
  pushesPerRepository: number;
  transferQueueMs: number;
  /** Looking up a host's addresses. */
  resolveMs: number;
  /** Waiting in a queue for a slot. */
  queueMs: number;
  /** The same for repacking, which the whole machine does once at a time. */
  upkeepQueueMs: number;
  /** Anonymous memory of the processes of one merge or diff, in bytes: two 100 MB texts merge in 1 GB. */
  mergeMemory: number;
  /** The same for a fetch or push: unpacking large deltas takes more. */
  fetchMemory: number;
  /** A mirror's packs, in bytes. */
  mirrorBytes: number;
  /** Standard output of a command that is read as a whole, in bytes: a listing of about 500,000 branches. */
  outputBytes: number;
  /** `.gitattributes` files of one commit, in number and in bytes together: large monorepos hold a few hundred. */
  attributeFiles: number;
  attributeBytes: number;
  /** A directory of a commit, in bytes of its tree: about 500,000 entries. */
  treeBytes: number;
  /** Paths that one diff and one push may change: the largest repositories have a few million. */
  diffPaths: number;
  pushPaths: number;
  /** Nested directories: file systems do not support longer paths (PATH_MAX). */
  treeDepth: number;
  /** Directories that are read to count paths. */
  treeDirectories: number;
  /** A commit that is read as a whole, in bytes; of a larger one only this much is read. */
  commitBytes: number;
  /** Merges that run at the same time, in all and for one repository, so that one repository cannot take all slots. */
  heavy: number;
  heavyPerRepository: number;
  /** Network commands that run at the same time: they mostly wait. */
  network: number;
  networkPerRepository: number;
  /** How many may wait for a slot, in all and for one repository, before callers get a Retry-After. */
  queue: number;
  queuePerRepository: number;
}

const MINUTE = 60_000;
const MIB = 1024 * 1024;

export const GIT_LIMITS: GitLimits = {
  listMs: 2 * MINUTE,
  listStillMs: 10_000,
  fetchMs: 60 * MINUTE,
  fetchStillMs: 3 * MINUTE,
  retryWaitMs: 10_000,
  mergeMs: 30_000,
  rebaseMs: 60_000,
  diffMs: 20_000,
  diffWallMs: 5 * MINUTE,
  pushMs: 10 * MINUTE,
  pushStillMs: 2 * MINUTE,
  apiMs: 10_000,
  apiBytes: MIB,
  apiListBytes: 8 * MIB,
  packBytes: 4096 * MIB,
  packMs: 60 * MINUTE,
  forwardMs: 60 * MINUTE,
  transferMs: 120 * MINUTE,
  stallMs: 2 * MINUTE,
  commandsMs: MINUTE,
  inflatedBytes: 64 * 1024 * MIB,
  inflatedRatio: 100,
  reads: 24,
  readsPerRepository: 12,
  pushes: 16,
  pushesPerRepository: 8,
  transferQueueMs: 10 * MINUTE,
  resolveMs: 5_000,
  queueMs: 30_000,
  upkeepQueueMs: 10 * MINUTE,
  mergeMemory: 1536 * MIB,
  fetchMemory: 2048 * MIB,
  mirrorBytes: 20 * 1024 * MIB,
  outputBytes: 64 * MIB,
  attributeFiles: 2_000,
  attributeBytes: 4 * MIB,
  treeBytes: 24 * MIB,
  diffPaths: 2_000_000,
  pushPaths: 10_000_000,
  treeDepth: 1_000,
  treeDirectories: 500_000,
  commitBytes: 64 * 1024,
  heavy: 8,
  heavyPerRepository: 2,
  network: 16,
  networkPerRepository: 4,
  queue: 256,
  queuePerRepository: 64,
};
