import { createHash } from "node:crypto";
import type { DaemonChanges } from "../../src/contract/daemon.ts";
import { CHANGED_FILES_MAX, PATCHED_FILE_MAX_BYTES } from "../../src/contract/limits.ts";
import type { WorkspaceGit } from "../saved/workspace-git.ts";
import { measure, SETTLED_MS } from "../saved/workspace-status.ts";
import type { Settings } from "../settings.ts";
import { type Staged, writeEntries } from "./staged.ts";

/** All that the repository's own configuration could change is given here. */
const DIFF = [
  ...["-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", "diff"],
  ...["--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--no-relative", "-O/dev/null"],
  ...["--full-index", "--no-abbrev", "--diff-algorithm=default", "--indent-heuristic", "--submodule=short"],
  // without a look into the submodules
  "--ignore-submodules=dirty",
];

const PATCH = ["--patch", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/"];

/** A file that differs from the base. */
interface Changed {
  /** In latin1. */
  path: string;
  status: string;
  /** Of the base; zeros: not in it. */
  mode: string;
  id: string;
  isUnstaged: true;
  isGone: boolean;
  size: number;
}

/** What a list of changes is kept for: the next one with the same fingerprint has the same lines. */
export interface KeptLines {
  version: string;
  lines: ReadonlyMap<string, [number, number] | null>;
}

/**
 * Lists what the workspace changes. The lines are counted only if a file has changed since the last list.
 * @returns also what to keep for the next list; null: a file changed so recently that it may change again unnoticed
 * @throws SaveError
 */
export async function listChanges(
  workspaceGit: WorkspaceGit,
  { workspace }: Pick<Settings, "workspace">,
  staged: Staged,
  kept: KeptLines | null,
): Promise<{ changes: DaemonChanges; kept: KeptLines | null }> {
  const { base, head, omitted } = staged;
  const all = await listChanged(workspaceGit, staged, []);
  const hash = createHash("sha256").update(`${base}`);
  for (const { path, status } of all) hash.update(`${status} ${path}\0`);
  const newest = await measure(workspace, all, hash);
  const version = hash.digest("hex");
  const lines = kept?.version === version ? kept.lines : await countLines(workspaceGit, staged, all);
  const shown = all.slice(0, CHANGED_FILES_MAX);
  return {
    changes: {
      ...{ base, head, version },
      files: shown.map(({ path, status }) => [
        Buffer.from(path, "latin1").toString("base64"),
        STATUSES[status] ?? "modified",
        lines.get(path) ?? null,
      ]),
      more: all.length - shown.length + omitted,
    },
    kept: Date.now() - newest > SETTLED_MS ? { version, lines } : null,
  };
}

const STATUSES: Readonly<Record<string, string>> = { A: "added", D: "deleted" };

/**
 * The arguments with which git prints the patch of the workspace, after the files that are too large for one have got the
 * entries of the base.
 * @param path what the patch is limited to; null: all, and binary files are in it
 * @throws SaveError
 */
export async function patchOf(
  workspaceGit: WorkspaceGit,
  { workspace }: Pick<Settings, "workspace">,
  staged: Staged,
  path: string | null,
): Promise<{ args: string[]; omitted: number }> {
  const limit = path === null ? [] : [path];
  const changed = await listChanged(workspaceGit, staged, limit);
  await measure(workspace, changed, createHash("sha256"));
  const large = await leaveOutLarge(workspaceGit, staged, changed);
  const kind = path === null ? ["--binary"] : [];
  const omitted = large + (path === null ? staged.omitted : 0);
  return { args: [...DIFF, ...PATCH, ...kind, staged.tree, "--", ...limit], omitted };
}

/**
 * Gives files that are too large for git to read the entries of the base, so that they do not differ.
 * @returns how many these are
 */
async function leaveOutLarge(
  workspaceGit: WorkspaceGit,
  { environment }: Staged,
  changed: readonly Changed[],
): Promise<number> {
  const large = changed.filter(({ size }) => size > PATCHED_FILE_MAX_BYTES);
  const entryOf = ({ status, mode, id, path }: Changed) => `${status === "A" ? "0" : mode} ${id} 0\t${path}`;
  await writeEntries(workspaceGit, environment, large.map(entryOf));
  const same = large.filter(({ status }) => status !== "A");
  if (same.length > 0) {
    const stdin = Buffer.from(same.map(({ path }) => `${path}\0`).join(""), "latin1");
    const args = ["update-index", "-z", "--assume-unchanged", "--stdin"];
    await workspaceGit.must("git could not leave out a file", args, { stdin, environment });
  }
  return large.length;
}

async function listChanged(
  { must }: WorkspaceGit,
  { tree, environment }: Staged,
  limit: readonly string[],
): Promise<Changed[]> {
  const args = [...DIFF, "--raw", "-z", tree, "--", ...limit];
  const parts = (await must("git could not compare the files", args, { environment }))
    .toString("latin1")
    .split("\0");
  const files: Changed[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, mode = "", id = "", status = ""] = RAW.exec(parts[at] ?? "") ?? [];
    const path = parts[at + 1] ?? "";
    files.push({ path, status, mode, id, isUnstaged: true, isGone: status === "D", size: 0 });
  }
  return files;
}

/** `:100644 100755 <id> <id> M` */
const RAW = /^:(\d+) \d+ ([0-9a-f]+) [0-9a-f]+ ([A-Z])/;

/** The added and removed lines, by path; null for a binary file. A file that is too large has none. */
async function countLines(
  workspaceGit: WorkspaceGit,
  staged: Staged,
  all: readonly Changed[],
): Promise<KeptLines["lines"]> {
  await leaveOutLarge(workspaceGit, staged, all);
  const args = [...DIFF, "--numstat", "-z", staged.tree, "--"];
  const { environment } = staged;
  const output = await workspaceGit.must("git could not count lines", args, { environment });
  const lines = new Map<string, [number, number] | null>();
  for (const line of output.toString("latin1").split("\0")) {
    const [, added, removed, path = ""] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(line) ?? [];
    if (path !== "") lines.set(path, added === "-" ? null : [Number(added), Number(removed)]);
  }
  return lines;
}
