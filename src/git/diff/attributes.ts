import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "../../contract/errors.ts";
import type { Attributes, Mirror } from "../mirror/mirror.ts";
import { isPlainFile, isPlainPath } from "../read/file.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import { query } from "../run/query.ts";

/** The most commits whose attributes a mirror caches. */
const REMEMBERED = 32;

/** The cached attributes of a commit, at least those of its root directory. */
export async function attributesOf(engine: Engine, mirror: Mirror, commit: string): Promise<Attributes> {
  const known = mirror.attributes.get(commit);
  if (known) return known;
  const attributes: Attributes = { commit, files: new Map(), bytes: 0, found: 0, all: false };
  if (engine.version.attrSource) attributes.all = true;
  else await lookUp(engine, mirror, attributes, [FILE]);
  if (mirror.attributes.size >= REMEMBERED) mirror.attributes.clear();
  mirror.attributes.set(commit, attributes);
  return attributes;
}

/**
 * Reads `.gitattributes` in the directories of these paths and all their parents.
 * @returns whether a new file was found
 */
export async function lookUp(
  engine: Engine,
  mirror: Mirror,
  attributes: Attributes,
  paths: Iterable<string>,
): Promise<boolean> {
  if (attributes.all) return false;
  const wanted = new Set<string>();
  for (const path of paths) {
    for (let at = path.lastIndexOf("/"); ; at = path.lastIndexOf("/", at - 1)) {
      const directory = at > 0 ? path.slice(0, at) : "";
      if (wanted.has(directory) || attributes.files.has(directory)) break;
      wanted.add(directory);
      if (at <= 0) break;
    }
  }
  if (wanted.size > LOOKUPS_MAX) return await lookUpAll(engine, mirror, attributes);
  const before = attributes.found;
  await Promise.all([...wanted].map((directory) => readIn(engine, mirror, attributes, directory)));
  return attributes.found > before;
}

/**
 * Reads every `.gitattributes` of the commit.
 * @returns whether a new file was found
 */
export async function lookUpAll(engine: Engine, mirror: Mirror, attributes: Attributes): Promise<boolean> {
  if (attributes.all) return false;
  const before = attributes.found;
  const directories: string[] = [];
  let rest = "";
  const args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", attributes.commit];
  const result = await query(engine, mirror, args, {
    onStdout(chunk) {
      const names = (rest + Buffer.from(chunk).toString("latin1")).split("\0");
      rest = names.pop() ?? "";
      for (const name of names) {
        if (name === FILE) directories.push("");
        else if (name.endsWith(`/${FILE}`)) directories.push(name.slice(0, -FILE.length - 1));
      }
      return directories.length <= engine.limits.attributeFiles;
    },
  });
  if (directories.length > engine.limits.attributeFiles) throw tooMany();
  if (result.code !== 0) throw engineFailure(engine, "reading .gitattributes", result);
  for (const directory of directories) {
    if (!attributes.files.has(directory)) await readIn(engine, mirror, attributes, directory);
  }
  attributes.all = true;
  return attributes.found > before;
}

/**
 * Makes git use only a commit's attributes: by name if git supports it (2.43), otherwise through a work tree that holds
 * nothing else.
 */
export async function showAttributes(engine: Engine, attributes: Attributes): Promise<ShownAttributes> {
  if (engine.version.attrSource) {
    return { environment: { GIT_ATTR_SOURCE: attributes.commit }, [Symbol.asyncDispose]: async () => {} };
  }
  if (attributes.found === 0) return { environment: {}, [Symbol.asyncDispose]: async () => {} };
  const tree = join(engine.directories.temporary, `attributes-${crypto.randomUUID()}`);
  await mkdir(tree, { mode: 0o700 });
  for (const [directory, content] of attributes.files) {
    if (!content) continue;
    const at = Buffer.concat([Buffer.from(`${tree}/`), Buffer.from(directory, "latin1")]);
    try {
      await mkdir(at, { recursive: true, mode: 0o700 });
      await writeFile(Buffer.concat([at, Buffer.from(`/${FILE}`)]), content);
    } catch {
      // the disk cannot hold the name, nor could a work tree
    }
  }
  return {
    environment: { GIT_WORK_TREE: tree },
    directory: tree,
    [Symbol.asyncDispose]: () => rm(tree, { recursive: true, force: true }),
  };
}

export interface ShownAttributes extends AsyncDisposable {
  environment: Record<string, string>;
  /** The working directory of git, which reads a work tree's attributes relative to it. */
  directory?: string;
}

const FILE = ".gitattributes";
/** Above this number, all directories are read at once. */
const LOOKUPS_MAX = 2_000;
async function readIn(
  engine: Engine,
  mirror: Mirror,
  attributes: Attributes,
  directory: string,
): Promise<void> {
  const info = isPlainPath(`${directory}${directory && "/"}${FILE}`)
    ? await mirror.objects.info(nameOf(attributes, directory))
    : null;
  let content: Uint8Array | null = null;
  if (info?.type === "blob" && (await isPlainFile(mirror.objects, attributes.commit, directory, FILE))) {
    attributes.bytes += info.size;
    if (++attributes.found > engine.limits.attributeFiles || attributes.bytes > engine.limits.attributeBytes)
      throw tooMany();
    content = await mirror.objects.contents(info.id);
  }
  attributes.files.set(directory, content);
}

function nameOf(attributes: Attributes, directory: string): string {
  return `${attributes.commit}:${directory}${directory && "/"}${FILE}`;
}

function tooMany(): SvcError {
  return new SvcError("merge_engine_failed", "The base branch has more .gitattributes files than svc reads.");
}
