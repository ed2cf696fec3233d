import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Mirror } from "../mirror/mirror.ts";
import { syncDirectory } from "../mirror/store.ts";
import type { Engine } from "../run/engine.ts";
import { baseEnvironment, withSettings } from "../run/environment.ts";

/** A directory for objects that are not accepted yet. Git in it also sees the mirror's objects, but not the reverse. */
export interface Quarantine extends AsyncDisposable {
  /** For git processes that work in it. */
  environment: Record<string, string>;
  /** The environment variables that make these objects visible to git. */
  objects: Record<string, string>;
  /** Moves the objects into the mirror. */
  accept(): Promise<void>;
}

/** Larger files are not deltified and not kept in memory. */
const BIG_FILE = "50m";

export async function openQuarantine(engine: Engine, mirror: Mirror): Promise<Quarantine> {
  const directory = join(engine.directories.temporary, `incoming-${crypto.randomUUID()}`);
  await mkdir(join(directory, "pack"), { recursive: true, mode: 0o700 });
  const objects = {
    GIT_OBJECT_DIRECTORY: directory,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: quote(join(mirror.directory, "objects")),
  };
  const settings = withSettings(baseEnvironment(engine.directories.home), [
    ["core.bigFileThreshold", BIG_FILE],
  ]);
  return {
    environment: { ...settings, GIT_DIR: mirror.directory, ...objects },
    objects,
    accept: () => accept(join(directory, "pack"), join(mirror.directory, "objects", "pack"), mirror.hosted),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Moves the index last: it makes the pack visible. */
async function accept(from: string, to: string, durably: boolean): Promise<void> {
  const names = await readdir(from);
  const isIndex = (name: string) => Number(name.endsWith(".idx"));
  for (const name of names.sort((a, b) => isIndex(a) - isIndex(b))) {
    if (/^pack-[0-9a-f]+\.(?:pack|rev|idx)$/.test(name)) await rename(join(from, name), join(to, name));
  }
  if (durably && names.length > 0) await syncDirectory(to);
}

/** A list of directories has `:` between them; one that holds it is written in quotes (git(1)). */
function quote(path: string): string {
  return /[:"\\]/.test(path) ? `"${path.replace(/["\\]/g, "\\$&")}"` : path;
}
