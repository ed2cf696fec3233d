import type { DiffFile } from "./files.ts";

export type TreeRow = { level: number; name: string; setSize: number; position: number } & (
  | { kind: "folder"; path: string; files: number; isOpen: boolean }
  | { kind: "file"; file: DiffFile }
);

interface Folder {
  folders: Map<string, Folder>;
  files: { name: string; file: DiffFile }[];
  count: number;
}

/**
 * The rows of the file tree from top to bottom: folders first, each level sorted by name. A folder that contains only a
 * folder shares one row with it. The content of a closed folder has no rows.
 */
export function treeRows(files: readonly DiffFile[], closed: ReadonlySet<string>): TreeRow[] {
  const root = makeFolder();
  for (const file of files) {
    const parts = file.path.split("/");
    const name = parts.pop() ?? "";
    let folder = root;
    folder.count++;
    for (const part of parts) {
      const inner = folder.folders.get(part) ?? makeFolder();
      folder.folders.set(part, inner);
      inner.count++;
      folder = inner;
    }
    folder.files.push({ name, file });
  }
  const rows: TreeRow[] = [];
  walk(root, "", 1, closed, rows);
  return rows;
}

function makeFolder(): Folder {
  return { folders: new Map(), files: [], count: 0 };
}

function walk(
  folder: Folder,
  above: string,
  level: number,
  closed: ReadonlySet<string>,
  rows: TreeRow[],
): void {
  const setSize = folder.folders.size + folder.files.length;
  let position = 0;
  for (const [name, inner] of [...folder.folders].sort(byName)) {
    const [joined, deepest] = join(name, inner);
    const path = `${above}${joined}`;
    const isOpen = !closed.has(path);
    rows.push({
      kind: "folder",
      level,
      name: joined,
      setSize,
      position: ++position,
      path,
      files: inner.count,
      isOpen,
    });
    if (isOpen) walk(deepest, `${path}/`, level + 1, closed, rows);
  }
  for (const { name, file } of folder.files) {
    rows.push({ kind: "file", level, name, setSize, position: ++position, file });
  }
}

function join(name: string, folder: Folder): [string, Folder] {
  const [only] = folder.folders;
  if (!only || folder.folders.size > 1 || folder.files.length > 0) return [name, folder];
  const [joined, deepest] = join(only[0], only[1]);
  return [`${name}/${joined}`, deepest];
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
