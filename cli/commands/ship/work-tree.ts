import { existsSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../../failure.ts";
import { type Git, gitFailed, gitIn } from "../../git.ts";
import { EXCEPT_LINKS } from "../../link.ts";
import type { System } from "../../system.ts";

/** The state of a repository that `svc ship` uses. */
export interface WorkTree {
  /** Runs in the top folder. */
  git: Git;
  root: string;
  /** The short name of the current branch. */
  branch: string;
  /** Null before the first commit. */
  commit: string | null;
  hasUpstream: boolean;
  /** Uncommitted changes without those of links; a new folder is one entry. */
  changes: Change[];
  isShallow: boolean;
  remotes: Remote[];
  /** An operation in progress: `merge`, `cherry-pick`, `revert`. */
  unfinished: string | null;
}

export interface Change {
  /** M, A, D, R, C, T, `?` for untracked, U for a conflict. */
  letter: string;
  path: string;
}

export interface Remote {
  name: string;
  url: string;
}

const MARKS = [
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
] as const;

/**
 * Reads the repository around the working directory; null if there is none.
 * @throws CliError `git` for a bare repository, a detached HEAD, and during a rebase.
 */
export async function readWorkTree(system: System): Promise<WorkTree | null> {
  const found = await topFolder(gitIn(system, system.cwd));
  if (found === null) return null;
  const { root, isShallow } = found;
  const git = gitIn(system, root);
  const gitDir = lineOf(await git.output("rev-parse", "--absolute-git-dir"));
  requireNoRebase(gitDir);
  const branch = await branchOf(git);
  const options = ["--porcelain=v2", "--branch", "--untracked-files=normal", "-z"];
  const status = await git.output("status", ...options, "--", ...EXCEPT_LINKS);
  return {
    git,
    root,
    branch,
    ...readStatus(status),
    isShallow,
    remotes: await readRemotes(git),
    unfinished: MARKS.find(([mark]) => existsSync(join(gitDir, mark)))?.[1] ?? null,
  };
}

async function topFolder(git: Git): Promise<Pick<WorkTree, "root" | "isShallow"> | null> {
  // The path is last, because it may contain a line feed.
  const questions = ["--is-inside-work-tree", "--is-shallow-repository", "--show-toplevel"];
  const { code, stdout, stderr } = await git.run("rev-parse", ...questions);
  if (code !== 0 && stderr.includes("not a git repository")) return null;
  const [isInside, isShallow, ...path] = lineOf(stdout).split("\n");
  if (code === 0 && isInside === "true") return { root: path.join("\n"), isShallow: isShallow === "true" };
  if (isInside !== "false") throw gitFailed("rev-parse", code, stderr);
  throw new CliError("git", "This is a bare repository, or a .git directory.", {
    hint: "Run `svc ship` in a work tree.",
  });
}

const lineOf = (text: string): string => text.replace(/\r?\n$/, "");

function requireNoRebase(gitDir: string): void {
  if (!["rebase-merge", "rebase-apply"].some((folder) => existsSync(join(gitDir, folder)))) return;
  throw new CliError("git", "A rebase is in progress.", {
    hint: "Finish it with `git rebase --continue`, or abort it with `git rebase --abort`.",
  });
}

async function branchOf(git: Git): Promise<string> {
  const { stdout } = await git.run("symbolic-ref", "--quiet", "HEAD");
  const branch = /^refs\/heads\/(.+)$/s.exec(lineOf(stdout))?.[1];
  if (branch !== undefined) return branch;
  throw new CliError("git", "HEAD is detached, so there is no branch to ship.", {
    hint: "Switch to a branch with `git switch <branch>`, or create one here with `git switch -c <branch>`.",
  });
}

/** Parses `git status --porcelain=v2 --branch -z`. A rename is followed by its old name. */
function readStatus(status: string): Pick<WorkTree, "commit" | "hasUpstream" | "changes"> {
  const records = status.split("\0");
  const oid = records.find((record) => record.startsWith("# branch.oid "))?.slice(13);
  const changes: Change[] = [];
  for (let at = 0; at < records.length; at++) {
    const [kind = "", states = "", ...rest] = (records[at] ?? "").split(" ");
    if (kind === "?") changes.push({ letter: "?", path: [states, ...rest].join(" ") });
    if (kind === "u") changes.push({ letter: "U", path: rest.slice(8).join(" ") });
    if (kind === "1") changes.push({ letter: letterOf(states), path: rest.slice(6).join(" ") });
    if (kind === "2") changes.push({ letter: letterOf(states), path: rest.slice(7).join(" ") });
    if (kind === "2") at++;
  }
  return {
    commit: oid !== undefined && /^[0-9a-f]+$/.test(oid) ? oid : null,
    hasUpstream: records.some((record) => record.startsWith("# branch.upstream ")),
    changes,
  };
}

/** The state in the index, else in the work tree. */
const letterOf = (states: string): string => states.replaceAll(".", "")[0] ?? "M";

async function readRemotes(git: Git): Promise<Remote[]> {
  const { stdout } = await git.run("config", "-z", "--get-regexp", "^remote\\..*\\.url$");
  return stdout.split("\0").flatMap((record) => {
    const [, name, url] = /^remote\.(.+)\.url\n(.*)$/s.exec(record) ?? [];
    return name !== undefined && url !== undefined ? [{ name, url }] : [];
  });
}
