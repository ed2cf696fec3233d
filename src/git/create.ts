import type { Gate } from "../lib/gate.ts";
import { createBackups } from "./backup/backups.ts";
import { diffCommits } from "./diff/diff.ts";
import { followLines } from "./diff/follow-lines.ts";
import {
  type Branches,
  type Git,
  isRemote,
  type PushOutcome,
  type PushRequest,
  type Repository,
} from "./git.ts";
import { readStatuses, reportStatus } from "./hosts/statuses.ts";
import { findArrival, reachedFrom } from "./merge/arrival.ts";
import { compareCommits, countAdded, isAncestorOf, relateCommits } from "./merge/compare.ts";
import { replaceFiles } from "./merge/replace-files.ts";
import { writeMergeCommit, writeSquash } from "./merge/write-merge.ts";
import { writeRebase } from "./merge/write-rebase.ts";
import { writeRevert } from "./merge/write-revert.ts";
import { fetchRef } from "./mirror/fetch.ts";
import { listHosted, moveHosted } from "./mirror/hosted.ts";
import { keepCommits } from "./mirror/keep.ts";
import type { Mirror } from "./mirror/mirror.ts";
import { Mirrors } from "./mirror/mirrors.ts";
import { archive } from "./read/archive.ts";
import { readBlob } from "./read/blob.ts";
import { readCommitFile } from "./read/file.ts";
import { logCommits } from "./read/log.ts";
import { commitOfTag } from "./read/tags.ts";
import { findEntry, listDirectory } from "./read/tree.ts";
import { createListing } from "./remote/branches.ts";
import { createBranch } from "./remote/create-branch.ts";
import { pushBranch } from "./remote/push.ts";
import { checkRemote } from "./remote/remote.ts";
import { createEngine, type Engine } from "./run/engine.ts";
import type { GitOptions } from "./run/options.ts";
import { createServing } from "./serve/serving.ts";

/**
 * Starts the git engine over a data directory that no other process uses.
 * @throws Error one line for the operator, when git is missing or older than 2.38
 */
export async function createGit(options: GitOptions): Promise<Git> {
  const engine = await createEngine(options);
  const mirrors = new Mirrors(engine);
  const listRemote = createListing(engine);
  const served = createServing(engine, mirrors, listRemote);
  const observed = observeBy(options.observe);
  const onMirror = operateOn(engine, mirrors, observed);
  const { merges, diffs, histories, downloads, lookups } = engine;
  const list = async (repo: Repository, timeoutMs: number): Promise<Branches> =>
    isRemote(repo)
      ? await listRemote(repo, timeoutMs)
      : await mirrors.use(repo, [], (mirror) => listHosted(engine, mirror));
  const ensure = (repo: Repository, commits: readonly string[]) => mirrors.ensure(repo, commits);
  const push = (repo: Repository, request: PushRequest) => pushOrMove(engine, mirrors, repo, request);

  return {
    version: engine.version.text,
    checkRemote: observed("check_remote", (url) => checkRemote(engine.remote, url)),
    listBranches: observed("list_branches", list),
    ensureCommits: observed("ensure_commits", ensure),
    relate: onMirror("relate", relateCommits, (base, head) => [base, head], merges),
    readFile: onMirror("read_file", readCommitFile, (commit) => [commit]),
    hasCommit: observed("has_commit", (repo, commit) => mirrors.has(repo, commit)),
    findTag: observed("find_tag", async (repo, name) => {
      await mirrors.refresh(repo, (remote) => listRemote(remote, engine.limits.listMs));
      return await mirrors.use(repo, [], (mirror) => commitOfTag(engine, mirror, name));
    }),
    log: onMirror("log", inSlot(histories, logCommits), ({ commit }) => [commit]),
    listDirectory: onMirror("list_directory", inSlot(lookups, listDirectory), ({ commit }) => [commit]),
    findEntry: onMirror("find_entry", inSlot(lookups, findEntry), (commit) => [commit]),
    archive: onMirror("archive", archive, ({ commit }) => [commit], downloads),
    readBlob: onMirror("read_blob", readBlob, ({ commit }) => [commit]),
    compare: onMirror("compare", compareCommits, (base, head) => [base, head], merges),
    isAncestor: onMirror(
      "is_ancestor",
      isAncestorOf,
      (ancestor, descendant) => [ancestor, descendant],
      merges,
    ),
    countAdded: onMirror("count_added", countAdded, (from, to) => [from, to], merges),
    reachedFrom: onMirror("reached_from", reachedFrom, (base) => [base], merges),
    findArrival: onMirror(
      "find_arrival",
      findArrival,
      ({ base, head, since }) => [base, head, since],
      merges,
    ),
    diff: onMirror("diff", diffCommits, ({ to, attributes }) => [to, attributes], diffs),
    followLines: onMirror("follow_lines", followLines, ({ from, to }) => [from, to], diffs),
    writeMerge: onMirror("write_merge", writeMergeCommit, ({ base, head }) => [base, head], merges),
    writeSquash: onMirror("write_squash", writeSquash, ({ base, head }) => [base, head], merges),
    writeRebase: onMirror("write_rebase", writeRebase, ({ base, head }) => [base, head], merges),
    writeRevert: onMirror("write_revert", writeRevert, (of) => [of.base, of.merged, of.before], merges),
    replaceFiles: onMirror("replace_files", replaceFiles, ({ commit }) => [commit], merges),
    push: observed("push", push),
    createBranch: observed("create_branch", (repo, request) =>
      createBranch(engine, { list, ensure, push }, repo, request),
    ),
    readStatuses: observed("read_statuses", async (repo, commit) =>
      isRemote(repo) ? await readStatuses(engine, repo, commit) : NO_HOST,
    ),
    reportStatus: observed("report_status", async (repo, commit, status) =>
      isRemote(repo) ? await reportStatus(engine, repo, commit, status) : NO_HOST,
    ),
    ensureOwn: observed("ensure_own", (repo, ref, commit) => ensureOwn(engine, mirrors, repo, ref, commit)),
    keep: onMirror("keep", keepCommits, (_, commits) => Object.values(commits)),
    advertise: observed("advertise", served.advertise),
    upload: observed("upload", served.upload),
    receive: observed("receive", served.receive),
    host: (repo, branch) => mirrors.host(repo, branch),
    forget: (repoId) => mirrors.forget(repoId),
    backups: createBackups(engine),
    async close() {
      await engine.runner.close();
      await mirrors.settled();
    },
  };
}

/** svc hosts the repository itself. */
const NO_HOST = { outcome: "none" } as const;

type Work<A extends unknown[], T> = (...args: A) => Promise<T>;

type Observed = <A extends unknown[], T>(operation: string, work: Work<A, T>) => Work<A, T>;

/** Reports how long each operation takes, and whether it succeeds. */
function observeBy(observe: GitOptions["observe"]): Observed {
  return (operation, work) =>
    async (...args) => {
      const started = performance.now();
      let ok = false;
      try {
        const result = await work(...args);
        ok = true;
        return result;
      } finally {
        observe?.(operation, performance.now() - started, ok);
      }
    };
}

/** Work on a mirror, such as `git diff`. */
type MirrorWork<A extends unknown[], T> = (engine: Engine, mirror: Mirror, ...args: A) => Promise<T>;

/** Turns work on a mirror into an operation on a repository: `needs` are the commits that the mirror must hold. */
function operateOn(engine: Engine, mirrors: Mirrors, observed: Observed) {
  return <A extends unknown[], T>(
    operation: string,
    work: MirrorWork<A, T>,
    needs: (...args: A) => readonly string[],
    /** Has a slot for the whole operation, with a fetch if there is one. */
    gate: Gate = (_, run) => run(),
  ) =>
    observed(operation, (repo: Repository, ...args: A) =>
      gate(repo.id, () => mirrors.use(repo, needs(...args), (mirror) => work(engine, mirror, ...args))),
    );
}

/** Runs the work itself in a slot, but not a fetch before it. */
function inSlot<A extends unknown[], T>(gate: Gate, work: MirrorWork<A, T>): MirrorWork<A, T> {
  return (engine, mirror, ...args) => gate(mirror.id, () => work(engine, mirror, ...args));
}

/** Moves a branch, on a git host or in a repository that svc hosts. */
function pushOrMove(
  engine: Engine,
  mirrors: Mirrors,
  repo: Repository,
  request: PushRequest,
): Promise<PushOutcome> {
  const commits = [request.from, request.to].filter((commit) => commit !== null);
  return mirrors.use(repo, commits, (mirror) =>
    isRemote(repo) ? pushBranch(engine, repo, mirror, request) : moveHosted(engine, mirror, request),
  );
}

async function ensureOwn(
  engine: Engine,
  mirrors: Mirrors,
  repo: Repository,
  ref: string,
  commit: string,
): Promise<boolean> {
  if (await mirrors.has(repo, commit)) return true;
  if (!isRemote(repo)) return false;
  await mirrors.use(repo, [], (mirror) =>
    mirrors.write(mirror, (end) => fetchRef(engine, repo, mirror, ref, end)),
  );
  return await mirrors.has(repo, commit);
}
