import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UUID } from "../../contract/id.ts";
import { parseJson } from "../../contract/json.ts";
import { WALLS, type Wall } from "../../contract/session.ts";
import { SandboxError } from "../provider.ts";

/** What is on disk of one sandbox: everything that it may write, its log, and how to find its processes again. */
export interface Folder {
  path: string;
  workspace: string;
  home: string;
  tmp: string;
  /** Holds nothing but the programs that a sandbox finds on its path; only without bubblewrap. */
  bin: string;
  /** What the sandbox's daemon puts its socket into. */
  run: string;
  /** A name for that folder which is short enough for the path of a socket in it. */
  link: string;
  /** The ways out of all sandboxes of this server. */
  outlets: string;
}

/** Written when the sandbox's first process runs, so that the server which comes after this one finds it. */
export interface State {
  installation: string;
  generation: number;
  /** The process above all of the sandbox's, and when it began: a pid alone may be another's by now. */
  pid: number;
  started: string;
  port: number;
  runtimePort: number;
  /** What isolates it; null: an older server has not written it. */
  walls: readonly Wall[] | null;
  /** The memory limit to enforce by polling, in bytes; null: the kernel enforces it, or there is none. */
  polledBytes: number | null;
}

export function folderOf(dataDir: string, sessionId: string): Folder {
  if (!UUID.test(sessionId)) throw new SandboxError("A sandbox is named by a UUID.", { permanent: true });
  return folderAt(dataDir, join(dataDir, FOLDER, sessionId));
}

/**
 * A folder to try bubblewrap in. It is on the same disk as those of sandboxes and is not one of them, so that nothing
 * that removes sandboxes without a session can remove it.
 */
export function trialFolder(dataDir: string): Folder {
  return folderAt(dataDir, join(dataDir, TRIALS, randomUUID()));
}

export function outletsFolder(dataDir: string): string {
  return join(dataDir, "o");
}

function folderAt(dataDir: string, path: string): Folder {
  return {
    path,
    workspace: join(path, "workspace"),
    home: join(path, "home"),
    tmp: join(path, "tmp"),
    bin: join(path, "bin"),
    run: join(path, "run"),
    link: join(dataDir, "d", shortName(path)),
    outlets: outletsFolder(dataDir),
  };
}

/** 72 bits: what a socket's path has room for, and too many to find a second session that has the same. */
function shortName(path: string): string {
  return createHash("sha256").update(path).digest("base64url").slice(0, 12);
}

const FOLDER = "sandboxes";
const TRIALS = "sandbox-trials";

/** Removes what trials have left whose server was killed. */
export async function removeTrials(dataDir: string): Promise<void> {
  await rm(join(dataDir, TRIALS), { recursive: true, force: true });
}

/** @returns the sessions that have a folder, whatever is in it */
export async function listFolders(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, FOLDER)).catch(() => []);
  return names.filter((name) => UUID.test(name));
}

export async function makeFolder(folder: Folder): Promise<void> {
  for (const path of [folder.path, folder.workspace, folder.home, folder.tmp, folder.bin, folder.run])
    await mkdir(path, { recursive: true, mode: 0o700 });
  await mkdir(folder.outlets, { recursive: true, mode: 0o755 });
  await mkdir(dirname(folder.link), { recursive: true, mode: 0o700 });
  await rm(folder.link, { force: true });
  await symlink(folder.run, folder.link);
}

/** Removes a sandbox's folder with everything in it, also what the agent has made unreadable. */
export async function removeFolder(folder: Folder): Promise<void> {
  // a link to what is gone leads nowhere
  await rm(folder.link, { force: true }).catch(() => {});
  const remove = () => rm(folder.path, { recursive: true, force: true });
  try {
    await remove();
  } catch {
    // a folder without permissions keeps what is in it; links are not followed
    const opened = Bun.spawn(["chmod", "-R", "u+rwX", folder.path], {
      stdio: ["ignore", "ignore", "ignore"],
      timeout: OPEN_MS,
    });
    await opened.exited;
    await remove().catch(() => {
      throw new SandboxError("The sandbox has ended, but its files cannot be removed.");
    });
  }
}

/** For the largest of trees. */
const OPEN_MS = 60_000;

/** Whole or not at all, whenever the server is killed. */
export async function writeState(folder: Folder, state: State): Promise<void> {
  const draft = join(folder.path, `.state-${randomBytes(4).toString("hex")}`);
  await writeFile(draft, `${JSON.stringify(state)}\n`, { mode: 0o600 });
  await rename(draft, join(folder.path, "state.json"));
}

/** @returns null when there is none, or none that can be read */
export async function readState(folder: Folder): Promise<State | null> {
  const value = parseJson(await readText(join(folder.path, "state.json")));
  if (typeof value !== "object" || value === null) return null;
  const { installation, generation, pid, started, port, runtimePort, walls, polledBytes } = {
    ...NOTHING,
    ...value,
  };
  if (typeof installation !== "string" || typeof started !== "string") return null;
  if (!isCount(generation) || !isCount(pid) || !isCount(port) || !isCount(runtimePort)) return null;
  return {
    ...{ installation, generation, pid, started, port, runtimePort },
    walls: readWalls(walls),
    polledBytes: isCount(polledBytes) ? polledBytes : null,
  };
}

const NOTHING: Record<keyof State, unknown> = {
  installation: null,
  generation: null,
  pid: null,
  started: null,
  port: null,
  runtimePort: null,
  walls: null,
  polledBytes: null,
};

function readWalls(value: unknown): readonly Wall[] | null {
  return Array.isArray(value) ? WALLS.filter((wall) => value.includes(wall)) : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

/** A number that is in a file of its own: `daemon` is a pid, `exit` a code, `memory-kills` a count. */
export async function readNumber(
  folder: Folder,
  name: "daemon" | "exit" | "memory-kills",
): Promise<number | null> {
  const text = await readText(join(folder.path, name));
  return /^\d{1,10}\n$/.test(text) ? Number(text) : null;
}

/** Remembers the directories of a sandbox's control groups, before they are created. */
export async function writeCgroups(folder: Folder, cgroups: readonly string[]): Promise<void> {
  await writeFile(join(folder.path, "cgroups"), cgroups.map((each) => `${each}\n`).join(""), { mode: 0o600 });
}

export async function readCgroups(folder: Folder): Promise<string[]> {
  return (await readText(join(folder.path, "cgroups"))).split("\n").filter((path) => path !== "");
}

/** Above all of what is read here. */
const TEXT_MAX_BYTES = 64 * 1024;

async function readText(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.length > TEXT_MAX_BYTES ? "" : text;
}
