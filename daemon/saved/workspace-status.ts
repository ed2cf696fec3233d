import { createHash, type Hash } from "node:crypto";
import { lstat } from "node:fs/promises";
import type { Settings } from "../settings.ts";
import { gitFailed, type WorkspaceGit } from "./workspace-git.ts";

/** A path of the work tree that differs from the commit that is checked out. */
export interface Change {
  /** In latin1, as all paths here, since not every path is UTF-8. */
  path: string;
  /** It is not in the commit: untracked, or only added to the index. */
  isNew: boolean;
  /** The work tree differs from the index; otherwise the change is only staged. */
  isUnstaged: boolean;
  isGone: boolean;
  /** Whether the path is a nested repository. */
  inner: "no" | "submodule" | "changed submodule" | "untracked repository";
  /** In bytes; 0 if the file does not exist. */
  size: number;
}

export interface WorkspaceStatus {
  /** The commit that is checked out; null on a branch without commits. */
  head: string | null;
  changes: Change[];
  /** Whether git could read every folder. */
  isWhole: boolean;
  /** Changes with the work tree. Null: a file changed so recently that a later change may keep the same fingerprint. */
  fingerprint: string | null;
}

/** Changes closer together than this may have the same mtime, on a file system with coarse timestamps. */
export const SETTLED_MS = 2_000;
/** Files that are read concurrently. */
const PARALLEL = 64;
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
 * Reads the uncommitted changes from `git status`, without writing to the workspace.
 * @throws SaveError
 */
export async function readWorkspaceStatus(
  { git }: WorkspaceGit,
  { workspace, branch }: Settings,
): Promise<WorkspaceStatus> {
  const pushed = await git(["rev-parse", "--verify", "--quiet", `refs/remotes/origin/${branch}`]);
  const { code, output, errors } = await git(STATUS);
  if (code !== 0) throw gitFailed("git could not read the workspace", errors);
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

/** The number of fields before the path in lines of changed and of unmerged files. */
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

/** Sets the sizes, and hashes the file attributes that show changes. @returns the time of the last change */
export async function measure(
  workspace: string,
  changes: readonly Pick<Change, "path" | "isUnstaged" | "isGone" | "size">[],
  hash: Hash,
): Promise<number> {
  let newest = 0;
  for (let at = 0; at < changes.length; at += PARALLEL) {
    const some = changes.slice(at, at + PARALLEL);
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
