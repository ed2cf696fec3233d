import { SvcError } from "../../contract/errors.ts";
import { REBASE_COMMITS_MAX } from "../../contract/limits.ts";
import type { RebaseRequest, Written } from "../git.ts";
import { type Mirror, markComplete } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure, objectMissing } from "../run/failure.ts";
import { linesOf, query } from "../run/query.ts";
import { mergeTrees } from "./merge-tree.ts";
import { personOf, writeObject } from "./write-commit.ts";

/**
 * Writes the commits of `head` that `base` lacks on top of `base`, as `git rebase` does: merge commits and changes that
 * `base` has already are left out, and a commit that is in place already is kept as it is. Author and message stay.
 * The same request always gives the same commits. Attributes are those of `base` in each step.
 * @throws SvcError `too_many_commits`, `merge_engine_failed`; MirrorSuspect
 */
export async function writeRebase(engine: Engine, mirror: Mirror, request: RebaseRequest): Promise<Written> {
  const { base, head } = request;
  const until = performance.now() + engine.limits.rebaseMs;
  let tip = { id: base, tree: await treeOf(mirror, base) };
  for (const { id, isInBase } of await commitsToReplay(engine, mirror, base, head)) {
    if (performance.now() > until) throw new SvcError("merge_engine_failed", "The rebase takes too long.");
    const commit = await readCommit(engine, mirror, id);
    if (commit.parent === tip.id) {
      tip = { id, tree: commit.tree };
      continue;
    }
    // git keeps a commit that changes nothing by itself, and drops one whose change is there already
    const isEmpty = commit.parent !== null && (await treeOf(mirror, commit.parent)) === commit.tree;
    if (isInBase && !isEmpty) continue;
    const tree = await replay(engine, mirror, commit, tip.tree, base);
    if (typeof tree !== "string") return { conflicts: tree, at: id };
    if (tree === tip.tree && !isEmpty) continue;
    const written = await writeObject(engine, mirror, "commit", replayed(commit, tree, tip.id, request));
    tip = { id: written, tree };
  }
  markComplete(mirror, [tip.id]);
  return { commit: tip.id };
}

/** The commits that `git rebase` picks, oldest first, and whether the base has the same patch. */
async function commitsToReplay(
  engine: Engine,
  mirror: Mirror,
  base: string,
  head: string,
): Promise<{ id: string; isInBase: boolean }[]> {
  const picked = ["--reverse", "--topo-order", "--no-merges", "--right-only", "--cherry-mark"];
  const max = `--max-count=${REBASE_COMMITS_MAX + 1}`;
  const result = await query(engine, mirror, ["rev-list", ...picked, max, `${base}...${head}`, "--"]);
  if (result.code !== 0 || result.stopped) throw engineFailure(engine, "listing commits", result);
  const commits = linesOf(result);
  if (commits.length <= REBASE_COMMITS_MAX)
    return commits.map((line) => ({ id: line.slice(1), isInBase: line.startsWith("=") }));
  throw new SvcError(
    "too_many_commits",
    `A rebase can replay at most ${REBASE_COMMITS_MAX} commits. Merge with another method, such as merge or squash.`,
  );
}

interface Original {
  id: string;
  tree: string;
  /** Null for the first commit of a history. */
  parent: string | null;
  /** Header lines that stay, as bytes in latin1. A signature would not be valid any more. */
  kept: string[];
  /** From the blank line on. */
  message: Uint8Array;
}

async function readCommit(engine: Engine, mirror: Mirror, id: string): Promise<Original> {
  const info = await mirror.objects.info(id);
  if (info && info.size > engine.limits.commitBytes)
    throw new SvcError("merge_engine_failed", `The commit ${id} is too large to be rebased.`);
  const bytes = info && (await mirror.objects.contents(id));
  if (!bytes) throw objectMissing();
  const object = Buffer.from(bytes);
  const blank = object.indexOf("\n\n");
  const lines = object.toString("latin1", 0, blank < 0 ? object.length : blank).split("\n");
  const header = (name: string) => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
  return {
    id,
    tree: header("tree") ?? "",
    parent: header("parent") ?? null,
    kept: lines.filter((line) => /^(?:author|encoding) /.test(line)),
    message: blank < 0 ? Buffer.from("\n\n") : object.subarray(blank),
  };
}

/**
 * Merges the change of a commit into a tree. Before git 2.40, `merge-tree` finds the merge base itself: therefore a
 * commit with the tree is written beside the original, with the same parent.
 * @returns the tree, or the paths in conflict
 */
export async function replay(
  engine: Engine,
  mirror: Mirror,
  { id, tree, parent }: Pick<Original, "id" | "tree" | "parent">,
  onto: string,
  attributes: string,
): Promise<string | string[]> {
  const from = parent ?? (await writeBeside(engine, mirror, await emptyTree(engine, mirror)));
  const base = await writeBeside(engine, mirror, onto, from);
  const head = parent ? id : await writeBeside(engine, mirror, tree, from);
  const merged = await mergeTrees(engine, mirror, { base, head, attributes }, {}, Promise.resolve([from]));
  return merged.clean ? merged.tree : merged.conflicts;
}

/** Writes a commit that no one sees. */
export function writeBeside(engine: Engine, mirror: Mirror, tree: string, parent?: string): Promise<string> {
  const person = "svc <svc> 0 +0000";
  const parents = parent === undefined ? [] : [`parent ${parent}`];
  const lines = [`tree ${tree}`, ...parents, `author ${person}`, `committer ${person}`, "", ""];
  return writeObject(engine, mirror, "commit", lines.join("\n"));
}

function replayed(
  { kept, message }: Original,
  tree: string,
  parent: string,
  committer: RebaseRequest,
): Buffer {
  const [author = "", ...encoding] = kept;
  const by = Buffer.from(`committer ${personOf(committer)}`).toString("latin1");
  const head = [`tree ${tree}`, `parent ${parent}`, author, by, ...encoding].join("\n");
  return Buffer.concat([Buffer.from(head, "latin1"), message]);
}

/** The id of the tree of a commit. */
export async function treeOf(mirror: Mirror, commit: string): Promise<string> {
  const info = await mirror.objects.info(`${commit}^{tree}`);
  if (!info) throw objectMissing();
  return info.id;
}

function emptyTree(engine: Engine, mirror: Mirror): Promise<string> {
  return writeObject(engine, mirror, "tree", "");
}
