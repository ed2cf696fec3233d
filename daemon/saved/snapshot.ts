import type { Settings } from "../settings.ts";
import { createExcluded, type Excluded } from "./excluded.ts";
import { SaveError } from "./save-error.ts";
import { writeSavedCommit } from "./saved-commit.ts";
import { scanObjects } from "./scan.ts";
import type { SecretPatterns } from "./secrets.ts";
import { type Kept, openStagingFolder, selectChanges, updateIndex } from "./staging-folder.ts";
import type { WorkspaceGit } from "./workspace-git.ts";
import type { WorkspaceStatus } from "./workspace-status.ts";

/** A commit of what is not pushed. It is in no repository yet. */
export interface Snapshot {
  commit: string;
  tree: string;
  parents: string[];
  /** All that the server has not: for `git pack-objects`. */
  objects: string[];
}

/** What the server has. */
export interface ServerState {
  /** What its branches and tags name. */
  ids: readonly string[];
  /** What is saved there now. */
  saved: string | null;
  /** Where the session's branch is there. */
  tip: string | null;
  /** Work of an earlier life of the sandbox, which is only in what was saved of it. */
  earlier: string | null;
}

export interface SnapshotContext {
  workspaceGit: WorkspaceGit;
  settings: Settings;
  patterns: SecretPatterns;
  /** Objects that were looked through before. */
  clean: Set<string>;
  known: ServerState;
  /** Of the last save; null: there was none that ended well. */
  kept: Kept | null;
}

export interface SnapshotResult {
  /** Null: there is nothing that is not pushed. */
  snapshot: Snapshot | null;
  /** A line for each path that is not in it. */
  excluded: string[];
  /** The variables by which git finds the snapshot's objects. */
  environment: Readonly<Record<string, string>>;
  kept: Kept;
}

/** What holds a secret is found and taken out: changed files first, then commits. More rounds, and something is wrong. */
const ROUNDS = 5;
/** Object ids that are remembered as looked through. */
const CLEAN_MAX = 500_000;

/**
 * Makes a commit of the workspace as it is, in a folder beside it: neither index nor work tree, branch or objects of the
 * workspace change. Its first parent is what is checked out, so that commits which were not pushed are kept with it; when
 * one of these holds a secret, it is what was pushed.
 * @throws SaveError
 */
export async function takeSnapshot(
  context: SnapshotContext,
  status: WorkspaceStatus,
): Promise<SnapshotResult> {
  const { workspaceGit, settings, patterns, known } = context;
  const excluded = createExcluded((path) => patterns.isIn(Buffer.from(path, "latin1")));
  if (!status.isWhole) excluded.add("(a folder)", "unreadable");
  const chosen = selectChanges(status.changes, excluded);
  const paths = new Set(chosen.taken.map(({ path }) => path));
  const isKept = context.kept !== null;
  const isSame = context.kept?.paths?.isSubsetOf(paths) ?? false;
  const environment = await openStagingFolder(workspaceGit, settings, { isKept, isSame });
  const whole = await updateIndex(workspaceGit, environment, chosen, excluded);
  const draft: Draft = { ...context, environment, excluded };
  const pushed = await pushedBase(draft, status.head);
  const bad = new Set<string>();
  let base = status.head ?? pushed;
  let last = "";
  for (let round = 0; round < ROUNDS; round++) {
    const tree = await withoutSecrets(draft, base, whole, bad);
    const isFlat = status.head !== null && base !== status.head;
    const facts = { sessionId: settings.sessionId, tree, isFlat, excluded: excluded.lines() };
    const own = await writeSavedCommit(draft, {
      ...facts,
      parents: base === null ? [] : [base],
      earlier: null,
    });
    const objects = await unknownObjects(draft, own);
    await scan(draft, objects, bad);
    if (!objects.some((id) => bad.has(id))) {
      // what was taken out of the index is to be found and named again
      const isWhole = tree === whole && chosen.dropped.length === 0;
      const isPushed = await matchesServer(draft, base, tree);
      const { earlier } = known;
      const parents = [...(base === null ? [] : [base]), ...(earlier === null ? [] : [earlier])];
      const commit = earlier === null ? own : await writeSavedCommit(draft, { ...facts, parents, earlier });
      const sent = [commit, ...objects.filter((id) => id !== own)];
      const snapshot = isPushed ? null : { commit, tree, parents, objects: sent };
      return { snapshot, excluded: excluded.lines(), environment, kept: { paths: isWhole ? paths : null } };
    }
    // what is bad and in no changed file is in a commit that was not pushed
    if (tree === last) base = pushed;
    last = tree === last ? "" : tree;
  }
  throw new SaveError("A secret is in the work in a way that svc cannot take it out.");
}

interface Draft extends SnapshotContext {
  environment: Readonly<Record<string, string>>;
  excluded: Excluded;
}

/** The commit on the server that the work began from: the branch's tip, or where the history leaves what is there. */
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

/** What a commit needs that the server has not: itself, and what it leads to. */
async function unknownObjects(
  { workspaceGit, known, environment }: Draft,
  commit: string,
): Promise<string[]> {
  const args = ["rev-list", "--objects", "--no-object-names", "--ignore-missing", "--stdin"];
  const there = [...known.ids, ...[known.saved, known.earlier].filter((id) => id !== null)];
  // one that was made in the same second, of the same, is the one that is there
  const stdin = lines([commit, ...there.filter((id) => id !== commit).map((id) => `^${id}`)]);
  const listed = await workspaceGit.must("git could not list what is to be saved", args, {
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

/** Takes what is bad out of a tree: a file is as it was in `base`, or not there. @returns the tree's id */
async function withoutSecrets(
  { workspaceGit, patterns, excluded, environment }: Draft,
  base: string | null,
  tree: string,
  bad: ReadonlySet<string>,
): Promise<string> {
  const from = base ?? EMPTY_TREE[tree.length === 64 ? 64 : 40];
  const args = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", from, tree];
  const raw = (await workspaceGit.must("git could not compare the work", args, { environment })).toString(
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
  await workspaceGit.must("git could not read the work", read, { environment });
  const stdin = Buffer.from(commands.join(""), "latin1");
  await workspaceGit.must("git could not leave a file out", ["update-index", "-z", "--index-info"], {
    stdin,
    environment,
  });
  const written = await workspaceGit.must("git could not write the work", ["write-tree"], { environment });
  return written.toString("latin1").trim();
}

/** `:100644 100755 <id> <id> M`; both modes are zeros where there is no file. */
const CHANGED = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) [A-Z]/;
/** The tree without entries, which git knows without being told. */
const EMPTY_TREE = {
  40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
} as const;

/** Whether nothing is changed, and what is checked out is on a branch of the server. */
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
