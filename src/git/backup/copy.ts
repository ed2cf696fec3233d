import { copyFile, link, mkdir, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describeMirror } from "../mirror/mirror.ts";
import { ORIGIN_FILE } from "../mirror/store.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";

/** A repository at one moment. */
export interface RepositoryCopy {
  /** Whether svc hosts it: then this is the only copy. */
  kind: "repositories" | "mirrors";
  id: string;
  format: "sha1" | "sha256";
  /** The content of the file HEAD. */
  head: string;
  /** The content of the file that identifies the origin of a mirror. */
  origin: string | null;
  /** All refs, one `<object id> <name>` on each line. */
  refs: Uint8Array;
  /** A bare repository with the same objects, by hard links: deleting or repacking the original does not change it. */
  directory: string;
}

const KINDS = ["repositories", "mirrors"] as const;
const FOLDER = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.git$/;
/** Repositories that are copied at a time. */
const AT_A_TIME = 4;
/** About 500,000 refs. */
const REFS_MAX_BYTES = 64 * 1024 * 1024;

/** Copies every repository into a folder on the same disk, as they are now. The caller holds `engine.refs`. */
export async function copyRepositories(engine: Engine, folder: string): Promise<RepositoryCopy[]> {
  const all = (await Promise.all(KINDS.map((kind) => listRepositories(engine, kind)))).flat();
  const copies: RepositoryCopy[] = [];
  const next = all.values();
  const work = async () => {
    for (const { kind, id } of next) {
      const copy = await copyRepository(engine, kind, id, join(folder, kind, `${id}.git`));
      if (copy) copies.push(copy);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return copies.sort((a, b) => `${a.kind}/${a.id}`.localeCompare(`${b.kind}/${b.id}`, "en"));
}

async function listRepositories(engine: Engine, kind: RepositoryCopy["kind"]) {
  const names = await readdir(engine.directories[kind]).catch(() => []);
  return names.flatMap((name) => {
    const id = FOLDER.exec(name)?.[1];
    return id === undefined ? [] : [{ kind, id }];
  });
}

/** @returns null for a mirror that is being created, replaced or deleted */
async function copyRepository(
  engine: Engine,
  kind: RepositoryCopy["kind"],
  id: string,
  directory: string,
): Promise<RepositoryCopy | null> {
  const from = join(engine.directories[kind], `${id}.git`);
  try {
    const head = await readFile(join(from, "HEAD"), "utf8");
    const config = await readFile(join(from, "config"), "utf8");
    const origin = kind === "mirrors" ? await readFile(join(from, ORIGIN_FILE), "utf8") : null;
    const format = config.includes("sha256") ? "sha256" : "sha1";
    const refs = await listRefs(engine, id, from, format);
    await mkdir(join(directory, "refs"), { recursive: true, mode: 0o700 });
    for (const name of ["HEAD", "config"]) await copyFile(join(from, name), join(directory, name));
    await linkObjects(join(from, "objects"), join(directory, "objects"));
    return { kind, id, format, head, origin, refs, directory };
  } catch (error) {
    if (kind === "mirrors" && error instanceof Error && "code" in error && error.code === "ENOENT")
      return null;
    throw error;
  }
}

async function listRefs(engine: Engine, id: string, from: string, format: "sha1" | "sha256") {
  const mirror = describeMirror(engine, id, from, format, false);
  const result = await engine.runner.run({
    args: ["for-each-ref", "--format=%(objectname) %(refname)"],
    environment: mirror.environment,
    deadlineMs: engine.limits.listMs,
    outputBytes: REFS_MAX_BYTES,
  });
  if (result.code !== 0) throw engineFailure(engine, `listing the refs of ${id}`, result);
  return result.stdout;
}

/** Objects never change. Incomplete ones have other names, and are left out. */
async function linkObjects(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || /^(?:tmp_|\.tmp-)|\.lock$/.test(entry.name)) continue;
    const source = join(entry.parentPath, entry.name);
    const target = join(to, source.slice(from.length + 1));
    await mkdir(dirname(target), { recursive: true });
    await link(source, target).catch(() => copyFile(source, target));
  }
  await mkdir(to, { recursive: true });
}
