import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UUID } from "../../contract/id.ts";
import { parseJson } from "../../contract/json.ts";
import { WALLS, type Wall } from "../../contract/session.ts";
import { SandboxError } from "../provider.ts";

/** The files of one sandbox: everything that it can write, its log, and the data to find its processes. */
export interface Folder {
  path: string;
  workspace: string;
  home: string;
  tmp: string;
  /** Links to svc's programs, for the PATH of a sandbox without bubblewrap. */
  bin: string;
  /** Where the daemon creates its socket. */
  run: string;
  /** A symbolic link to `run`: the path of a unix socket is limited to about a hundred bytes. */
  link: string;
  /** The sandbox's own egress sockets. */
  egress: string;
}

/** Written when the sandbox's first process runs, so that the next server can find it. */
export interface State {
  installation: string;
  generation: number;
  /** The supervisor's pid and start time: a pid alone may have been reused. */
  pid: number;
  started: string;
  port: number;
  runtimePort: number;
  /** What isolates it; null: written by an older version. */
  walls: readonly Wall[] | null;
  /** The id of the volume that it has; null: none. */
  volume: string | null;
  /** The memory limit to enforce by polling, in bytes; null: the kernel enforces it, or there is none. */
  polledBytes: number | null;
}

export function folderOf(dataDir: string, sessionId: string): Folder {
  if (!UUID.test(sessionId))
    throw new SandboxError("The id of a sandbox must be a UUID.", { permanent: true });
  return folderAt(dataDir, join(dataDir, FOLDER, sessionId));
}

/**
 * A folder to test bubblewrap in. It is on the disk of the sandboxes but not among them, so that it is not removed as a
 * sandbox without a session.
 */
export function trialFolder(dataDir: string): Folder {
  return folderAt(dataDir, join(dataDir, TRIALS, randomUUID()));
}

export function egressFolder(dataDir: string): string {
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
    egress: join(egressFolder(dataDir), shortName(path)),
  };
}

/** 72 bits: short enough for a socket's path, and too many for a collision to be found. */
function shortName(path: string): string {
  return createHash("sha256").update(path).digest("base64url").slice(0, 12);
}

const FOLDER = "sandboxes";
const TRIALS = "sandbox-trials";

/** Removes the folders of trials that a killed server has left. */
export async function removeTrials(dataDir: string): Promise<void> {
  await rm(join(dataDir, TRIALS), { recursive: true, force: true });
}

/** @returns the ids of sessions that have a folder, whatever it contains */
export async function listFolders(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, FOLDER)).catch(() => []);
  return names.filter((name) => UUID.test(name));
}

export async function createFolder(folder: Folder): Promise<void> {
  for (const path of [folder.path, folder.workspace, folder.home, folder.tmp, folder.bin, folder.run])
    await mkdir(path, { recursive: true, mode: 0o700 });
  await mkdir(folder.egress, { recursive: true, mode: 0o755 });
  await mkdir(dirname(folder.link), { recursive: true, mode: 0o700 });
  await rm(folder.link, { force: true });
  await symlink(folder.run, folder.link);
}

/** Removes a sandbox's folder, including folders that the agent has made unreadable. */
export async function removeFolder(folder: Folder): Promise<void> {
  // a dangling link and sockets on which nothing listens do no harm
  await rm(folder.link, { force: true }).catch(() => {});
  await rm(folder.egress, { recursive: true, force: true }).catch(() => {});
  await removeTree(folder.path, "The sandbox has ended, but its files cannot be removed.");
}

/** Removes a folder with everything in it, also folders without permissions. @throws SandboxError with the message */
export async function removeTree(path: string, message: string): Promise<void> {
  const remove = () => rm(path, { recursive: true, force: true });
  try {
    await remove();
  } catch {
    // files in a folder without permissions cannot be removed; chmod -R does not follow links
    const chmod = Bun.spawn(["chmod", "-R", "u+rwX", path], {
      stdio: ["ignore", "ignore", "ignore"],
      timeout: CHMOD_MS,
    });
    await chmod.exited;
    await remove().catch(() => {
      throw new SandboxError(message);
    });
  }
}

/** For the largest trees. */
const CHMOD_MS = 60_000;

/** Writes the state atomically. */
export async function writeState(folder: Folder, state: State): Promise<void> {
  const temporary = join(folder.path, `.state-${randomBytes(4).toString("hex")}`);
  await writeFile(temporary, `${JSON.stringify(state)}\n`, { mode: 0o600 });
  await rename(temporary, join(folder.path, "state.json"));
}

/** @returns null without a valid state */
export async function readState(folder: Folder): Promise<State | null> {
  const value = parseJson(await readText(join(folder.path, "state.json")));
  if (typeof value !== "object" || value === null) return null;
  const { installation, generation, pid, started, port, runtimePort, walls, volume, polledBytes } = {
    ...EMPTY,
    ...value,
  };
  if (typeof installation !== "string" || typeof started !== "string") return null;
  if (!isCount(generation) || !isCount(pid) || !isCount(port) || !isCount(runtimePort)) return null;
  return {
    ...{ installation, generation, pid, started, port, runtimePort },
    walls: readWalls(walls),
    volume: typeof volume === "string" ? volume : null,
    polledBytes: isCount(polledBytes) ? polledBytes : null,
  };
}

const EMPTY: Record<keyof State, unknown> = {
  installation: null,
  generation: null,
  pid: null,
  started: null,
  port: null,
  runtimePort: null,
  walls: null,
  volume: null,
  polledBytes: null,
};

function readWalls(value: unknown): readonly Wall[] | null {
  return Array.isArray(value) ? WALLS.filter((wall) => value.includes(wall)) : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

/** Reads a file that contains a number: `daemon` the pid, `exit` the exit code, `memory-kills` a count. */
export async function readNumber(
  folder: Folder,
  name: "daemon" | "exit" | "memory-kills",
): Promise<number | null> {
  const text = await readText(join(folder.path, name));
  return /^\d{1,10}\n$/.test(text) ? Number(text) : null;
}

/** Records the directories of a sandbox's control groups, before they are created. */
export async function writeCgroups(folder: Folder, cgroups: readonly string[]): Promise<void> {
  await writeFile(join(folder.path, "cgroups"), cgroups.map((each) => `${each}\n`).join(""), { mode: 0o600 });
}

export async function readCgroups(folder: Folder): Promise<string[]> {
  return (await readText(join(folder.path, "cgroups"))).split("\n").filter((path) => path !== "");
}

/** More than any of these files has. */
const TEXT_MAX_BYTES = 64 * 1024;

async function readText(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.length > TEXT_MAX_BYTES ? "" : text;
}
