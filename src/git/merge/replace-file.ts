import { SvcError } from "../../contract/errors.ts";
import type { ReplaceRequest, TreeEntry } from "../git.ts";
import { type Mirror, markComplete } from "../mirror/mirror.ts";
import { findName, readTree } from "../read/tree.ts";
import type { Engine } from "../run/engine.ts";
import { objectMissing } from "../run/failure.ts";
import { writeCommit, writeObject } from "./write-commit.ts";

/**
 * Writes a commit into the mirror that replaces the bytes of one file, and changes nothing else: neither the file's mode
 * nor any other entry. The same request always gives the same commit.
 * @throws SvcError `not_found` when the commit has no such file, `merge_engine_failed`; MirrorSuspect
 */
export async function replaceFile(engine: Engine, mirror: Mirror, request: ReplaceRequest): Promise<string> {
  const root = await mirror.objects.info(`${request.commit}^{tree}`);
  if (!root) throw objectMissing();
  /** The trees on the path to the file, and the offset of the next id in each. */
  const way: { tree: Buffer; at: number }[] = [];
  let entry: Pick<TreeEntry, "type" | "id"> = { type: "directory", id: root.id };
  for (const name of request.path.split("/")) {
    if (entry.type !== "directory") throw noFile(request.path);
    const tree = await readTree(engine, mirror, entry.id);
    const found = findName(tree, entry.id.length / 2, Buffer.from(name));
    if (!found) throw noFile(request.path);
    way.push({ tree, at: found.idAt });
    entry = found.entry;
  }
  if (entry.type !== "file") throw noFile(request.path);
  let replaced = await writeObject(engine, mirror, "blob", request.bytes);
  for (const { tree, at } of way.reverse()) {
    const changed = Buffer.from(tree);
    changed.set(Buffer.from(replaced, "hex"), at);
    replaced = await writeObject(engine, mirror, "tree", changed);
  }
  const commit = await writeCommit(engine, mirror, { ...request, tree: replaced, parents: [request.commit] });
  markComplete(mirror, [commit]);
  return commit;
}

const noFile = (path: string) => new SvcError("not_found", `The commit has no file ${path}.`);
