import { SvcError } from "../../contract/errors.ts";
import type { TreeEntry } from "../git.ts";
import type { Objects } from "../read/objects.ts";
import { entriesOf } from "../read/tree.ts";
import type { GitLimits } from "../run/limits.ts";

/** The number of paths that differ below a pair of directories, and their depth. */
interface Counted {
  paths: number;
  depth: number;
}

/** Counts the paths that differ between two commits, or trees. @param from null: the empty tree */
export type CountChanges = (from: string | null, to: string) => Promise<number>;

/**
 * Git walks a tree by its paths, and a few objects can make more paths than there is time for, or nest deeper than its
 * stack. This walks by objects: each pair of directories is read once. Missing objects count as empty.
 * @returns a function that throws `payload_too_large` past `maxPaths` and the limits of depth and directories
 */
export function createChangeCounter(
  objects: Pick<Objects, "info" | "contents">,
  { treeBytes, treeDepth, treeDirectories }: GitLimits,
  maxPaths: number,
): CountChanges {
  const known = new Map<string, Counted>();

  return async (from, to) => {
    const before = from === null ? null : await rootOf(from);
    const after = await rootOf(to);
    // a tag may name an object without a tree
    if (after === null || before === after) return 0;
    return (await compare(before, after, 1)).paths;
  };

  async function rootOf(name: string): Promise<string | null> {
    return (await objects.info(`${name}^{tree}`))?.id ?? null;
  }

  async function compare(from: string | null, to: string | null, level: number): Promise<Counted> {
    const key = `${from} ${to}`;
    const counted = known.get(key) ?? (await count(from, to, level));
    known.set(key, counted);
    if (level + counted.depth > treeDepth) throw tooDeep(treeDepth);
    if (counted.paths > maxPaths) throw tooMany(maxPaths);
    return counted;
  }

  async function count(from: string | null, to: string | null, level: number): Promise<Counted> {
    if (level > treeDepth) throw tooDeep(treeDepth);
    if (known.size >= treeDirectories) throw tooMany(maxPaths);
    const before = await read(from);
    const all: Counted = { paths: 0, depth: 0 };
    for (const [name, entry] of await read(to)) {
      const old = before.get(name) ?? null;
      before.delete(name);
      await add(all, old, entry, level);
    }
    for (const old of before.values()) await add(all, old, null, level);
    return all;
  }

  async function add(all: Counted, old: TreeEntry | null, entry: TreeEntry | null, level: number) {
    if (old && entry && old.id === entry.id && old.mode === entry.mode) return;
    const [before, after] = [folderOf(old), folderOf(entry)];
    if ((old && before === null) || (entry && after === null)) all.paths++;
    if (before === null && after === null) return;
    const { paths, depth } = await compare(before, after, level + 1);
    all.paths += paths;
    all.depth = Math.max(all.depth, depth + 1);
    if (all.paths > maxPaths) throw tooMany(maxPaths);
  }

  async function read(id: string | null): Promise<Map<string, TreeEntry>> {
    const info = id === null ? null : await objects.info(id);
    if (id === null || info?.type !== "tree") return new Map();
    if (info.size > treeBytes) throw tooMany(maxPaths);
    const tree = Buffer.from((await objects.contents(id)) ?? []);
    return new Map(
      entriesOf(tree, id.length / 2).map((entry) => [Buffer.from(entry.name).toString("latin1"), entry]),
    );
  }
}

function folderOf(entry: TreeEntry | null): string | null {
  return entry?.type === "directory" ? entry.id : null;
}

function tooMany(maxPaths: number): SvcError {
  const most = maxPaths.toLocaleString("en-GB");
  return new SvcError(
    "payload_too_large",
    `More than ${most} paths change, or their directories are too large.`,
  );
}

function tooDeep(treeDepth: number): SvcError {
  const most = treeDepth.toLocaleString("en-GB");
  return new SvcError("payload_too_large", `Directories are nested more than ${most} deep.`);
}
