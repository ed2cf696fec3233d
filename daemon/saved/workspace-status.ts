import { createHash, type Hash } from "node:crypto";
import { lstat } from "node:fs/promises";
import type { Settings } from "../settings.ts";
import { gitFailed, type WorkspaceGit } from "./workspace-git.ts";

/** What of the work tree is another than what is checked out. */
export interface Change {
  /** A character for each byte (latin1), as all paths here: not every one is UTF-8. */
  path: string;
  /** No commit that is checked out has it: untracked, or only added to the index. */
  isNew: boolean;
  /** The work tree has it otherwise than the index; else it is only staged. */
  isUnstaged: boolean;
  isGone: boolean;
  /** A repository in the repository. */
  inner: "no" | "submodule" | "changed submodule" | "untracked repository";
  /** In bytes; 0 when it is gone. */
  size: number;
}

export interface WorkspaceStatus {
  /** What is checked out; null on a branch without a commit. */
  head: string | null;
  changes: Change[];
  /** Whether git could read every folder. */
  isWhole: boolean;
  /** The same again: nothing has changed. Null: a file changed so lately that a change after it might not show. */
  fingerprint: string | null;
}

/** Two changes closer together than this may carry the same time: the coarsest clock of a file system ticks so. */
const SETTLED_MS = 2_000;
/** Files that are looked at side by side. */
const AT_ONCE = 64;
const STATUS = [
  "status",
  "--porcelain=v2",
  "--branch",
  "--no-ahead-behind",
  "-z",
  "--untracked-files=all",
  "--no-renames",
  "--ignore-submodules=none",
];

/**
 * Looks at what is not committed, as `git status` finds it, without writing anything.
 * @throws SaveError
 */
export async function readWorkspaceStatus(
  { git }: WorkspaceGit,
  { workspace, branch }: Settings,
): Promise<WorkspaceStatus> {
  const pushed = await git(["rev-parse", "--verify", "--quiet", `refs/remotes/origin/${branch}`]);
  const { code, output, errors } = await git(STATUS);
  if (code !== 0) throw gitFailed("git could not look at the workspace", errors);
  const { head, changes } = parseStatus(output.toString("latin1"));
  const hash = createHash("sha256").update(pushed.output).update(output);
  const newest = await measure(workspace, changes, hash);
  return {
    head,
    changes,
    isWhole: !errors.includes("warning: could not open directory"),
    fingerprint: Date.now() - newest > SETTLED_MS ? hash.digest("hex") : null,
  };
}

/** The lines of git-status(1), "Porcelain Format Version 2". */
function parseStatus(text: string): { head: string | null; changes: Change[] } {
  let head: string | null = null;
  const changes: Change[] = [];
  for (const line of text.split("\0")) {
    const oid = /^# branch\.oid ([0-9a-f]+)$/.exec(line)?.[1];
    if (oid !== undefined) head = oid;
    const change = parseChange(line);
    if (change) changes.push(change);
  }
  return { head, changes };
}

/** Fields before the path, by the kind of line: changed, unmerged. */
const FIELDS: Readonly<Record<string, number>> = { "1": 8, u: 10 };

function parseChange(line: string): Change | null {
  if (line.startsWith("? ")) {
    const path = line.slice(2);
    const inner = path.endsWith("/") ? "untracked repository" : "no";
    return { path, isNew: true, isUnstaged: true, isGone: false, inner, size: 0 };
  }
  const count = FIELDS[line[0] ?? ""];
  if (count === undefined || line[1] !== " ") return null;
  const words = line.split(" ");
  const [kind, xy = "", sub = ""] = words;
  return {
    path: words.slice(count).join(" "),
    isNew: xy.startsWith("A"),
    isUnstaged: kind === "u" || xy[1] !== ".",
    isGone: xy[1] === "D",
    inner: !sub.startsWith("S") ? "no" : /^S.(?:M|.U)/.test(sub) ? "changed submodule" : "submodule",
    size: 0,
  };
}

/** Fills the sizes in, and hashes what tells one state of a file from another. @returns the time of the last change */
async function measure(workspace: string, changes: readonly Change[], hash: Hash): Promise<number> {
  let newest = 0;
  for (let at = 0; at < changes.length; at += AT_ONCE) {
    const some = changes.slice(at, at + AT_ONCE);
    const found = await Promise.all(
      some.map(({ path }) => lstat(inside(workspace, path), EXACT).catch(() => null)),
    );
    for (const [index, change] of some.entries()) {
      const stats = found[index];
      if (!stats) {
        change.isGone = change.isUnstaged;
        continue;
      }
      if (!stats.isDirectory()) change.size = Number(stats.size);
      hash.update(`${stats.ino} ${stats.mode} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}\n`);
      newest = Math.max(
        newest,
        Number(stats.ctimeMs),
        Number(stats.mtimeMs) > Date.now() ? 0 : Number(stats.mtimeMs),
      );
    }
  }
  return newest;
}

const EXACT = { bigint: true } as const;

function inside(workspace: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${workspace}/`), Buffer.from(path, "latin1")]);
}
