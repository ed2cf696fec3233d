import { join } from "node:path";
import type { Git, Repository } from "../../src/git/git.ts";
import type { GitOptions } from "../../src/git/run/options.ts";
import {
  type Commit,
  createRepository,
  createTestGit,
  runGit,
  type TestRepository,
  temporary,
} from "./git-repo.ts";

export interface Mirrored extends AsyncDisposable {
  upstream: TestRepository;
  git: Git;
  repo: Repository;
  /** Writes commits upstream and brings them into the mirror. */
  write(commits: readonly Commit[]): Promise<Record<string, string>>;
  /** Writes a raw commit object without checks as a branch upstream, and fetches it into the mirror. */
  writeRaw(branch: string, object: Uint8Array): Promise<string>;
}

/** A repository on disk that stands for a host's, and an engine with a mirror of it. */
export async function mirrored(
  options: { format?: "sha1" | "sha256"; git?: Partial<GitOptions> } = {},
): Promise<Mirrored> {
  const directory = await temporary();
  const upstream = await createRepository(
    join(directory.path, "up"),
    options.format ? { format: options.format } : {},
  );
  const engine = await createTestGit({ dataDir: join(directory.path, "data"), ...options.git });
  const repo = engine.repo(upstream.url);
  const bring = async (commits: readonly string[]) => {
    if (!(await engine.git.ensureCommits(repo, commits))) throw new Error("the mirror lacks commits");
  };
  return {
    upstream,
    git: engine.git,
    repo,
    async write(commits) {
      const ids = await upstream.write(commits);
      await bring(commits.filter((commit) => commit.branch).map((commit) => ids[commit.name] ?? ""));
      return ids;
    },
    async writeRaw(branch, object) {
      const args = ["hash-object", "-t", "commit", "-w", "--literally", "--stdin"];
      const id = (await runGit(upstream.directory, args, { stdin: object })).stdout.toString().trim();
      await upstream.git("update-ref", `refs/heads/${branch}`, id);
      await bring([id]);
      return id;
    },
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

/** Text as bytes; `latin1:` before it says that its characters are bytes. */
export function bytesOf(path: string): Uint8Array {
  return path.startsWith("latin1:") ? Buffer.from(path.slice(7), "latin1") : Buffer.from(path);
}
