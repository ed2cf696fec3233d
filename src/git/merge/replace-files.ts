import { SvcError } from "../../contract/errors.ts";
import type { ReplacedFile, ReplaceRequest, TreeEntry } from "../git.ts";
import { type Mirror, markComplete } from "../mirror/mirror.ts";
import { findName, readTree } from "../read/tree.ts";
import type { Engine } from "../run/engine.ts";
import { objectMissing } from "../run/failure.ts";
import { writeCommit, writeObject } from "./write-commit.ts";

/**
 * Writes a commit into the mirror that replaces the bytes of files, and changes nothing else: neither their modes nor any
 * other entry. The same request always gives the same commit.
 * @throws SvcError `not_found` when the commit has no such file, `merge_engine_failed`; MirrorSuspect
 */
export async function replaceFiles(engine: Engine, mirror: Mirror, request: ReplaceRequest): Promise<string> {
  const root = await mirror.objects.info(`${request.commit}^{tree}`);
  if (!root) throw objectMissing();
  let tree = root.id;
  for (const file of request.files) tree = await replaceIn(engine, mirror, tree, file);
  const commit = await writeCommit(engine, mirror, { ...request, tree, parents: [request.commit] });
  markComplete(mirror, [commit]);
  return commit;
}

/** Writes the trees on the path to a file anew. @returns the root */
async function replaceIn(
  engine: Engine,
  mirror: Mirror,
  root: string,
  { path, bytes }: ReplacedFile,
): Promise<string> {
  /** The trees on the path to the file, and the offset of the next id in each. */
  const way: { tree: Buffer; at: number }[] = [];
  let entry: Pick<TreeEntry, "type" | "id"> = { type: "directory", id: root };
  for (const name of path.split("/")) {
    if (entry.type !== "directory") throw noFile(path);
    const tree = await readTree(engine, mirror, entry.id);
    const found = findName(tree, entry.id.length / 2, Buffer.from(name));
    if (!found) throw noFile(path);
    way.push({ tree, at: found.idAt });
    entry = found.entry;
  }
  if (entry.type !== "file") throw noFile(path);
  let replaced = await writeObject(engine, mirror, "blob", bytes);
  for (const { tree, at } of way.reverse()) {
    const changed = Buffer.from(tree);
    changed.set(Buffer.from(replaced, "hex"), at);
    replaced = await writeObject(engine, mirror, "tree", changed);
  }
  return replaced;
}

const noFile = (path: string) => new SvcError("not_found", `The commit has no file ${path}.`);
