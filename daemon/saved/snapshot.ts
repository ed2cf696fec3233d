import type { Settings } from "../settings.ts";
import { createExcluded, type Excluded } from "./excluded.ts";
import { SaveError } from "./save-error.ts";
import { writeSavedCommit } from "./saved-commit.ts";
import { scanObjects } from "./scan.ts";
import type { SecretPatterns } from "./secrets.ts";
import { selectChanges } from "./select-changes.ts";
import { type Kept, openStagingFolder, updateIndex } from "./staging-folder.ts";
import type { WorkspaceGit } from "./workspace-git.ts";
import type { WorkspaceStatus } from "./workspace-status.ts";

/** A commit of unpushed work, which is not uploaded yet. */
export interface Snapshot {
  commit: string;
  tree: string;
  parents: string[];
  /** The objects that the server does not have, for `git pack-objects`. */
  objects: string[];
}

/** The refs on the server. */
export interface ServerState {
  /** The objects of its branches and tags. */
  ids: readonly string[];
  /** The current saved work. */
  saved: string | null;
  /** The tip of the session's branch. */
  tip: string | null;
  /** The saved work of an earlier sandbox that was not restored. */
  earlier: string | null;
}

export interface SnapshotContext {
  workspaceGit: WorkspaceGit;
  settings: Settings;
  patterns: SecretPatterns;
  /** Objects that were scanned before and contain no secret. */
  clean: Set<string>;
  known: ServerState;
  /** The state that the last save kept; null: it failed, or there was none. */
  kept: Kept | null;
}

export interface SnapshotResult {
  /** Null: all work is pushed. */
  snapshot: Snapshot | null;
  /** One line for each path that is not in it. */
  excluded: string[];
  /** The environment with which git finds the snapshot's objects. */
  environment: Readonly<Record<string, string>>;
  kept: Kept;
}

/** Rounds of removing objects with secrets: from the changed files first, then from the commits. */
const ROUNDS = 5;
/** Ids of scanned objects that are cached. */
const CLEAN_MAX = 500_000;

/**
 * Creates a commit of the workspace in the staging folder, without changing the workspace's index, files, branches or
 * objects. Its first parent is the commit that is checked out, so that unpushed commits are saved too; if one of these
 * contains a secret, the parent is the last pushed commit.
 * @throws SaveError
 */
export async function takeSnapshot(
  context: SnapshotContext,
  status: WorkspaceStatus,
): Promise<SnapshotResult> {
  const { workspaceGit, settings, patterns, known } = context;
  const excluded = createExcluded((path) => patterns.isIn(Buffer.from(path, "latin1")));
  if (!status.isWhole) excluded.add("(a folder)", "unreadable");
  const selection = selectChanges(status.changes, excluded);
  const paths = new Set(selection.included.map(({ path }) => path));
  const isKept = context.kept !== null;
  const isSame = context.kept?.paths?.isSubsetOf(paths) ?? false;
  const environment = await openStagingFolder(workspaceGit, settings, { isKept, isSame });
  const whole = await updateIndex(workspaceGit, environment, selection, excluded);
  const draft: Draft = { ...context, environment, excluded };
  const pushed = await pushedBase(draft, status.head);
  const bad = new Set<string>();
  let base = status.head ?? pushed;
  let last = "";
  for (let round = 0; round < ROUNDS; round++) {
    const tree = await withoutSecrets(draft, base, whole, bad);
    const isFlat = status.head !== null && base !== status.head;
    const facts = { sessionId: settings.sessionId, tree, isFlat, excluded: excluded.lines() };
    const bases = base === null ? [] : [base];
    const own = await writeSavedCommit(draft, { ...facts, parents: bases, earlier: null });
    const objects = await unknownObjects(draft, own);
    await scan(draft, objects, bad);
    if (!objects.some((id) => bad.has(id))) {
      // the index lacks what was removed: the next save must find and report it again
      const isWhole = tree === whole && selection.removed.length === 0;
      const isPushed = await matchesServer(draft, base, tree);
      const { earlier } = known;
      const parents = [...bases, ...(earlier === null ? [] : [earlier])];
      const commit = earlier === null ? own : await writeSavedCommit(draft, { ...facts, parents, earlier });
      const sent = [commit, ...objects.filter((id) => id !== own)];
      const snapshot = isPushed ? null : { commit, tree, parents, objects: sent };
      return { snapshot, excluded: excluded.lines(), environment, kept: { paths: isWhole ? paths : null } };
    }
    // no changed file has the secret, so an unpushed commit has it
    if (tree === last) base = pushed;
    last = tree === last ? "" : tree;
  }
  throw new SaveError("The work contains a secret that svc cannot remove.");
}

interface Draft extends SnapshotContext {
  environment: Readonly<Record<string, string>>;
  excluded: Excluded;
}

/** The last pushed commit of the work: the branch's tip, or the newest ancestor that the server has. */
async function pushedBase(
  { workspaceGit: { git, must }, known }: Draft,
  head: string | null,
): Promise<string | null> {
  if (known.tip !== null && (await git(["cat-file", "-e", `${known.tip}^{commit}`])).code === 0)
    return known.tip;
  if (head === null) return null;
  const args = ["rev-list", "--boundary", "--ignore-missing", "--stdin"];
  const stdin = lines([head, ...known.ids.map((id) => `^${id}`)]);
  const listed = (await must("git could not list the commits", args, { stdin })).toString("latin1");
  return /^-([0-9a-f]+)$/m.exec(listed)?.[1] ?? null;
}

/** The objects of a commit that the server does not have, including the commit itself. */
async function unknownObjects(
  { workspaceGit, known, environment }: Draft,
  commit: string,
): Promise<string[]> {
  const args = ["rev-list", "--objects", "--no-object-names", "--ignore-missing", "--stdin"];
  const there = [...known.ids, ...[known.saved, known.earlier].filter((id) => id !== null)];
  // a commit of the same work in the same second has the same id as the saved one
  const stdin = lines([commit, ...there.filter((id) => id !== commit).map((id) => `^${id}`)]);
  const listed = await workspaceGit.must("git could not list the objects to save", args, {
    stdin,
    environment,
  });
  return listed.toString("latin1").split("\n").filter(Boolean);
}

async function scan(
  { workspaceGit, patterns, clean, environment }: Draft,
  objects: readonly string[],
  bad: Set<string>,
): Promise<void> {
  if (clean.size > CLEAN_MAX) clean.clear();
  const unseen = objects.filter((id) => !clean.has(id) && !bad.has(id));
  for (const id of await scanObjects(workspaceGit, unseen, patterns, environment)) bad.add(id);
  for (const id of unseen) if (!bad.has(id)) clean.add(id);
}

/** Replaces files with secrets by their version in `base`, or removes them. @returns the id of the new tree */
async function withoutSecrets(
  { workspaceGit, patterns, excluded, environment }: Draft,
  base: string | null,
  tree: string,
  bad: ReadonlySet<string>,
): Promise<string> {
  const from = base ?? EMPTY_TREE[tree.length === 64 ? 64 : 40];
  const args = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", from, tree];
  const raw = (await workspaceGit.must("git could not compare trees", args, { environment })).toString(
    "latin1",
  );
  const parts = raw.split("\0");
  const commands: string[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, oldMode = "", newMode = "", oldId = "", newId = ""] = CHANGED.exec(parts[at] ?? "") ?? [];
    const path = parts[at + 1] ?? "";
    if (/^0+$/.test(newMode) || !(bad.has(newId) || patterns.isIn(Buffer.from(path, "latin1")))) continue;
    excluded.add(path, "secret");
    commands.push(
      /^0+$/.test(oldMode) || bad.has(oldId)
        ? `0 ${"0".repeat(newId.length)}\t${path}\0`
        : `${oldMode} ${oldId}\t${path}\0`,
    );
  }
  if (commands.length === 0) return tree;
  const read = ["read-tree", "--reset", tree];
  await workspaceGit.must("git could not read a tree", read, { environment });
  const stdin = Buffer.from(commands.join(""), "latin1");
  await workspaceGit.must("git could not exclude a file", ["update-index", "-z", "--index-info"], {
    stdin,
    environment,
  });
  const written = await workspaceGit.must("git could not write the work", ["write-tree"], { environment });
  return written.toString("latin1").trim();
}

/** `:100644 100755 <id> <id> M`; a mode is zero if there is no file. */
const CHANGED = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) [A-Z]/;
/** The empty tree, which exists in every repository. */
const EMPTY_TREE = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
} as const;

/** Whether nothing has changed, and the commit that is checked out is on a branch of the server. */
async function matchesServer(
  { workspaceGit: { must }, known }: Draft,
  base: string | null,
  tree: string,
): Promise<boolean> {
  if (base === null) return false;
  const its = await must("git could not read a commit", ["rev-parse", "--verify", `${base}^{tree}`]);
  if (its.toString("latin1").trim() !== tree) return false;
  const args = ["rev-list", "--max-count=1", "--ignore-missing", "--stdin"];
  const stdin = lines([base, ...known.ids.map((id) => `^${id}`)]);
  return (await must("git could not list the commits", args, { stdin })).length === 0;
}

function lines(words: readonly string[]): Buffer {
  return Buffer.from(`${words.join("\n")}\n`);
}
