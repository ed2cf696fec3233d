import { SvcError } from "../../contract/errors.ts";
import type { DirectoryPage, DirectoryRequest, TreeEntry } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import { objectMissing } from "../run/failure.ts";

/**
 * The entry at a path of a commit; null when it is not found. An empty path is the root. Walks the trees by their ids: git
 * would read the end of `<commit>:a-gabc123` as a commit.
 * @throws SvcError `payload_too_large`; MirrorSuspect
 */
export async function findEntry(
  engine: Engine,
  mirror: Mirror,
  commit: string,
  path: Uint8Array,
): Promise<TreeEntry | null> {
  const root = await mirror.objects.info(`${commit}^{tree}`);
  if (!root) throw objectMissing();
  let found: TreeEntry = {
    name: new Uint8Array(),
    type: "directory",
    mode: DIRECTORY_MODE,
    size: null,
    id: root.id,
  };
  for (const name of path.length === 0 ? [] : partsOf(path)) {
    if (found.type !== "directory") return null;
    const next = findName(await readTree(engine, mirror, found.id), found.id.length / 2, name);
    if (!next) return null;
    found = next.entry;
  }
  return await withSize(mirror, found);
}

/**
 * A page of a directory's entries, in git's order: by bytes, a directory as if its name ended with a slash. Null when the
 * directory is not found.
 * @throws SvcError `payload_too_large`; MirrorSuspect
 */
export async function listDirectory(
  engine: Engine,
  mirror: Mirror,
  request: DirectoryRequest,
): Promise<DirectoryPage | null> {
  const directory = await findEntry(engine, mirror, request.commit, request.path);
  if (directory?.type !== "directory") return null;
  const tree = await readTree(engine, mirror, directory.id);
  const part: TreeEntry[] = [];
  let at = 0;
  for (const span of entrySpans(tree, directory.id.length / 2)) {
    if (at++ < request.skip) continue;
    if (part.length === request.limit) return { entries: await sized(), more: true };
    part.push(entryAt(tree, span));
  }
  return { entries: await sized(), more: false };

  function sized(): Promise<TreeEntry[]> {
    return Promise.all(part.map((entry) => withSize(mirror, entry)));
  }
}

const SLASH = 47;
const SPACE = 32;
const DIRECTORY_MODE = "040000";

function partsOf(path: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let slash = path.indexOf(SLASH); slash >= 0; slash = path.indexOf(SLASH, from)) {
    parts.push(path.subarray(from, slash));
    from = slash + 1;
  }
  return [...parts, path.subarray(from)];
}

/** The bytes of a tree. @throws SvcError `payload_too_large`; MirrorSuspect */
export async function readTree(engine: Engine, mirror: Mirror, id: string): Promise<Buffer> {
  const info = await mirror.objects.info(id);
  if (info?.type !== "tree") throw objectMissing();
  if (info.size > engine.limits.treeBytes) {
    throw new SvcError(
      "payload_too_large",
      "The directory has too many entries for svc to list. Clone the repository to view it.",
    );
  }
  const bytes = await mirror.objects.contents(id);
  if (!bytes) throw objectMissing();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The offsets of an entry: `<mode> SP <name> NUL <id>`. */
interface EntrySpan {
  start: number;
  space: number;
  nul: number;
  end: number;
}

function* entrySpans(tree: Buffer, idLength: number): Generator<EntrySpan> {
  for (let start = 0; start < tree.length; ) {
    const space = tree.indexOf(SPACE, start);
    const nul = tree.indexOf(0, space);
    const end = nul + 1 + idLength;
    if (space < 0 || nul < 0 || end > tree.length) throw objectMissing();
    yield { start, space, nul, end };
    start = end;
  }
}

/** Finds the entry of a name in a tree's bytes, and the offset of its id. */
export function findName(
  tree: Buffer,
  idLength: number,
  name: Uint8Array,
): { entry: TreeEntry; idAt: number } | null {
  for (const span of entrySpans(tree, idLength)) {
    if (tree.subarray(span.space + 1, span.nul).equals(name))
      return { entry: entryAt(tree, span), idAt: span.nul + 1 };
  }
  return null;
}

/** All entries of a tree's bytes, without sizes. */
export function entriesOf(tree: Buffer, idLength: number): TreeEntry[] {
  return Array.from(entrySpans(tree, idLength), (span) => entryAt(tree, span));
}

function entryAt(tree: Buffer, { start, space, nul, end }: EntrySpan): TreeEntry {
  const [type, mode] = kindOf(Number.parseInt(tree.toString("latin1", start, space), 8));
  const name = Uint8Array.from(tree.subarray(space + 1, nul));
  return { name, type, mode, size: null, id: tree.toString("hex", nul + 1, end) };
}

/** Reads a mode as git does, ignoring other bits that old tools wrote. */
function kindOf(mode: number): [TreeEntry["type"], string] {
  const isExecutable = (mode & 0o100) !== 0;
  switch (mode & 0o170000) {
    case 0o100000:
      return ["file", isExecutable ? "100755" : "100644"];
    case 0o120000:
      return ["symlink", "120000"];
    case 0o040000:
      return ["directory", DIRECTORY_MODE];
    default:
      return ["submodule", "160000"];
  }
}

async function withSize(mirror: Mirror, entry: TreeEntry): Promise<TreeEntry> {
  if (entry.type === "directory" || entry.type === "submodule") return entry;
  const info = await mirror.objects.info(entry.id);
  if (info?.type !== "blob") throw objectMissing();
  return { ...entry, size: info.size };
}
