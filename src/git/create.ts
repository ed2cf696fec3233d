import { diffCommits } from "./diff/diff.ts";
import {
  type Branches,
  type Git,
  isRemote,
  type PushOutcome,
  type PushRequest,
  type Repository,
} from "./git.ts";
import { findArrival, reachedFrom } from "./merge/arrival.ts";
import { compareCommits, isAncestorOf, relateCommits } from "./merge/compare.ts";
import { replaceFile } from "./merge/replace-file.ts";
import { writeMergeCommit } from "./merge/write-merge.ts";
import { fetchRef } from "./mirror/fetch.ts";
import { listHosted, moveHosted } from "./mirror/hosted.ts";
import { keepCommits } from "./mirror/keep.ts";
import { createMirrors } from "./mirror/mirrors.ts";
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
import { createEngine } from "./run/engine.ts";
import type { GitOptions } from "./run/options.ts";
import { createServing } from "./serve/serving.ts";

/**
 * Starts the git engine over a data directory that no other process uses.
 * @throws Error one line for the operator, when git is missing or older than 2.38
 */
export async function createGit(options: GitOptions): Promise<Git> {
  const engine = await createEngine(options);
  const mirrors = createMirrors(engine);
  const listRemote = createListing(engine);
  const served = createServing(engine, mirrors, listRemote);

  return {
    version: engine.version.text,
    checkRemote: (url) => observed("check_remote", () => checkRemote(engine.remote, url)),
    listBranches: (repo, timeoutMs) => observed("list_branches", () => list(repo, timeoutMs)),
    ensureCommits: (repo, commits) => observed("ensure_commits", () => mirrors.ensure(repo, commits)),
    relate: (repo, base, head) =>
      observed("relate", () =>
        engine.merges(repo.id, () =>
          mirrors.use(repo, [base, head], (mirror) => relateCommits(engine, mirror, base, head)),
        ),
      ),
    readFile: (repo, commit, path, maxBytes) =>
      observed("read_file", () =>
        mirrors.use(repo, [commit], (mirror) => readCommitFile(engine, mirror, commit, path, maxBytes)),
      ),
    hasCommit: (repo, commit) => observed("has_commit", () => mirrors.has(repo, commit)),
    findTag: (repo, name) =>
      observed("find_tag", async () => {
        await mirrors.refresh(repo, (remote) => listRemote(remote, engine.limits.listMs));
        return await mirrors.use(repo, [], (mirror) => commitOfTag(engine, mirror, name));
      }),
    log: (repo, request) =>
      observed("log", () =>
        mirrors.use(repo, [request.commit], (mirror) =>
          engine.histories(mirror.id, () => logCommits(engine, mirror, request)),
        ),
      ),
    listDirectory: (repo, request) =>
      observed("list_directory", () =>
        mirrors.use(repo, [request.commit], (mirror) =>
          engine.lookups(mirror.id, () => listDirectory(engine, mirror, request)),
        ),
      ),
    findEntry: (repo, commit, path) =>
      observed("find_entry", () =>
        mirrors.use(repo, [commit], (mirror) =>
          engine.lookups(mirror.id, () => findEntry(engine, mirror, commit, path)),
        ),
      ),
    archive: (repo, request) =>
      observed("archive", () =>
        engine.downloads(repo.id, () =>
          mirrors.use(repo, [request.commit], (mirror) => archive(engine, mirror, request)),
        ),
      ),
    readBlob: (repo, request) =>
      observed("read_blob", () =>
        mirrors.use(repo, [request.commit], (mirror) => readBlob(engine, mirror, request)),
      ),
    compare: (repo, base, head) =>
      observed("compare", () =>
        engine.merges(repo.id, () =>
          mirrors.use(repo, [base, head], (mirror) => compareCommits(engine, mirror, base, head)),
        ),
      ),
    isAncestor: (repo, ancestor, descendant) =>
      observed("is_ancestor", () =>
        engine.merges(repo.id, () =>
          mirrors.use(repo, [ancestor, descendant], (mirror) =>
            isAncestorOf(engine, mirror, ancestor, descendant),
          ),
        ),
      ),
    reachedFrom: (repo, base, heads) =>
      observed("reached_from", () =>
        engine.merges(repo.id, () =>
          mirrors.use(repo, [base], (mirror) => reachedFrom(engine, mirror, base, heads)),
        ),
      ),
    findArrival: (repo, request) =>
      observed("find_arrival", () =>
        engine.merges(repo.id, () =>
          mirrors.use(repo, [request.base, request.head, request.since], (mirror) =>
            findArrival(engine, mirror, request),
          ),
        ),
      ),
    diff: (repo, request) =>
      observed("diff", () =>
        engine.diffs(repo.id, () =>
          mirrors.use(repo, [request.to, request.attributes], (mirror) =>
            diffCommits(engine, mirror, request),
          ),
        ),
      ),
    writeMerge: (repo, request) =>
      observed("write_merge", () =>
        engine.merges(repo.id, () =>
          mirrors.use(repo, [request.base, request.head], (mirror) =>
            writeMergeCommit(engine, mirror, request),
          ),
        ),
      ),
    replaceFile: (repo, request) =>
      observed("replace_file", () =>
        engine.merges(repo.id, () =>
          mirrors.use(repo, [request.commit], (mirror) => replaceFile(engine, mirror, request)),
        ),
      ),
    push: (repo, request) => observed("push", () => push(repo, request)),
    createBranch: (repo, request) =>
      observed("create_branch", () =>
        createBranch(engine, { list, ensure: mirrors.ensure, push }, repo, request),
      ),
    ensureOwn: (repo, ref, commit) =>
      observed("ensure_own", async () => {
        if (await mirrors.has(repo, commit)) return true;
        if (!isRemote(repo)) return false;
        await mirrors.use(repo, [], (mirror) =>
          mirrors.write(mirror, (end) => fetchRef(engine, repo, mirror, ref, end)),
        );
        return await mirrors.has(repo, commit);
      }),
    keep: (repo, number, commits) =>
      observed("keep", () =>
        mirrors.use(repo, Object.values(commits), (mirror) => keepCommits(engine, mirror, number, commits)),
      ),
    advertise: (repo, request) => observed("advertise", () => served.advertise(repo, request)),
    upload: (repo, request) => observed("upload", () => served.upload(repo, request)),
    receive: (repo, request) => observed("receive", () => served.receive(repo, request)),
    host: (repo, branch) => mirrors.host(repo, branch),
    forget: (repoId) => mirrors.forget(repoId),
    async close() {
      await engine.runner.close();
      await mirrors.settled();
    },
  };

  async function list(repo: Repository, timeoutMs: number): Promise<Branches> {
    if (isRemote(repo)) return await listRemote(repo, timeoutMs);
    return await mirrors.use(repo, [], (mirror) => listHosted(engine, mirror));
  }

  function push(repo: Repository, request: PushRequest): Promise<PushOutcome> {
    const commits = [request.from, request.to].filter((commit) => commit !== null);
    return mirrors.use(repo, commits, (mirror) =>
      isRemote(repo) ? pushBranch(engine, repo, mirror, request) : moveHosted(engine, mirror, request),
    );
  }

  async function observed<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    let ok = false;
    try {
      const result = await work();
      ok = true;
      return result;
    } finally {
      options.observe?.(operation, performance.now() - started, ok);
    }
  }
}
