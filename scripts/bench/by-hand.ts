import { git } from "./git.ts";
import type { Workbench } from "./workbench.ts";

/** A bare mirror of a remote, and the git commands that a change request requires. */
export interface ByHand {
  path: string;
  /** `git ls-remote`: branch → commit. */
  list(): Promise<(branch: string) => string>;
  fetch(): Promise<void>;
  mergeBase(base: string, head: string): Promise<string>;
  /** `git merge-tree --write-tree`: the merged tree. */
  mergeTree(base: string, head: string): Promise<string>;
  commitTree(tree: string, base: string, head: string): Promise<string>;
  push(branch: string, from: string, to: string): Promise<void>;
  keep(number: number, commits: Record<string, string>): Promise<void>;
}

/**
 * The settings of svc for safe fetches and a consistent mirror. Without them git would do less work. Settings of svc that only
 * improve speed are left out.
 */
const SETTINGS = { "fetch.fsckObjects": "true", "gc.auto": "0", "maintenance.auto": "false" };

export async function mirrorByHand(bench: Workbench, remote: string): Promise<ByHand> {
  const path = bench.folder("by-hand");
  const url = `file://${remote}`;
  await git(path, ["init", "--quiet", "--bare", "--template="]);
  for (const [name, value] of Object.entries(SETTINGS)) await git(path, ["config", name, value]);
  const run = (...args: string[]) => git(path, args);
  const mirror: ByHand = {
    path,
    async list() {
      const lines = (await run("ls-remote", "--symref", url)).split("\n");
      const tips = new Map(lines.map((line) => [line.slice(line.indexOf("\t") + 1), line.split("\t")[0]]));
      return (branch) => tips.get(`refs/heads/${branch}`) ?? "";
    },
    async fetch() {
      const flags = ["--quiet", "--force", "--prune", "--no-tags", "--no-write-fetch-head"];
      await run("fetch", ...flags, url, "+refs/heads/*:refs/heads/*");
    },
    mergeBase: (base, head) => run("merge-base", "--all", base, head),
    async mergeTree(base, head) {
      const out = await run("merge-tree", "--write-tree", "-z", "--name-only", base, head);
      return out.split("\0")[0] ?? "";
    },
    commitTree: (tree, base, head) => run("commit-tree", tree, "-p", base, "-p", head, "-m", "Merge"),
    async push(branch, from, to) {
      const ref = `refs/heads/${branch}`;
      await run(
        "push",
        "--porcelain",
        "--no-verify",
        `--force-with-lease=${ref}:${from}`,
        url,
        `${to}:${ref}`,
      );
    },
    async keep(number, commits) {
      const lines = Object.entries(commits).map(
        ([name, commit]) => `update refs/cr/${number}/${name} ${commit}\n`,
      );
      await git(path, ["update-ref", "--stdin"], lines.join(""));
    },
  };
  await mirror.fetch();
  return mirror;
}
