import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SandboxError, type SandboxLimits } from "../provider.ts";
import { readKernelFile } from "./processes.ts";

/** The mount point. */
const ROOT = "/sys/fs/cgroup";
const CONTROLLERS = ["memory", "pids", "cpu"] as const;
type Controller = (typeof CONTROLLERS)[number];

/** The control groups in which the server can create others, by controller; in version 2 they are one. */
export interface Cgroups {
  version: 1 | 2;
  parents: Readonly<Parents & { memory: string }>;
}
type Parents = Partial<Record<Controller, string>>;

/** CPU time is accounted per period, in microseconds. */
const CPU_PERIOD_US = 100_000;
/** For a shell to start on a busy machine. */
const TRIAL_MS = 60_000;
/** A group is busy until its last process is reaped. */
const REMOVE_MS = 10_000;
const POLL_MS = 20;

/**
 * Finds where the server can create control groups (cgroups(7)), by creating one. In version 2 this is the nearest
 * ancestor of the server's own group that delegates the memory controller.
 * @returns null where it cannot, as in most containers; svc then polls the memory of sandboxes
 */
export async function findCgroups(): Promise<Cgroups | null> {
  const user = process.getuid?.() ?? 0;
  for (const candidate of await cgroupCandidates(ROOT, await readKernelFile("/proc/self/cgroup"), user))
    if (await works(candidate)) return candidate;
  return null;
}

/**
 * Candidates for the parent of new groups, the best first.
 * @param root the mount point of the cgroup file system
 * @param own contents of /proc/self/cgroup
 * @param user of the server; controllers of groups owned by this user are delegated, unless it is root
 */
export async function cgroupCandidates(root: string, own: string, user: number): Promise<Cgroups[]> {
  const isUnified = (await readKernelFile(join(root, "cgroup.controllers"))) !== "";
  return isUnified ? unified(root, own, user) : legacy(root, own);
}

/** The directories of the groups of one sandbox. */
export function cgroupsNamed({ parents }: Cgroups, name: string): string[] {
  return [...new Set(Object.values(parents))].map((parent) => join(parent, name));
}

/** Creates the groups of one sandbox. A process that writes `0` to `cgroup.procs` of each joins them. */
export async function createCgroups(
  { version, parents }: Cgroups,
  name: string,
  limits: SandboxLimits,
): Promise<void> {
  for (const controller of CONTROLLERS) {
    const parent = parents[controller];
    if (parent === undefined) continue;
    const folder = join(parent, name);
    await mkdir(folder, { recursive: true });
    for (const [file, value, optional] of settingsOf(version, controller, limits)) {
      await writeFile(join(folder, file), String(value), { flag: "r+" }).catch((error: unknown) => {
        if (!optional) throw error;
      });
    }
  }
}

/** @throws SandboxError when one of them still contains a process */
export async function removeCgroups(folders: readonly string[]): Promise<void> {
  const end = performance.now() + REMOVE_MS;
  for (const folder of folders) {
    await rmdir(folder).catch(() => {});
    while (existsSync(folder)) {
      if (performance.now() > end) throw new SandboxError("The sandbox's control group cannot be removed.");
      await sleep(POLL_MS);
      await rmdir(folder).catch(() => {});
    }
  }
}

/** The number of processes that the kernel has killed in these groups for exceeding the memory limit. */
export async function countOomKills(folders: readonly string[]): Promise<number> {
  for (const folder of folders) {
    for (const file of ["memory.events", "memory.oom_control"]) {
      const count = /^oom_kill (\d+)$/m.exec(await readKernelFile(join(folder, file)))?.[1];
      if (count !== undefined) return Number(count);
    }
  }
  return 0;
}

/** File name and value; optional where some kernels lack the file. */
type Setting = readonly [file: string, value: number | string, optional?: boolean];

/** The settings of a group that enforce some limits (kernel admin guide, cgroup-v1 and cgroup-v2). */
export function settingsOf(version: 1 | 2, controller: Controller, limits: SandboxLimits): Setting[] {
  return SETTINGS[version][controller](limits);
}

const SETTINGS: Record<1 | 2, Record<Controller, (limits: SandboxLimits) => Setting[]>> = {
  1: {
    memory: ({ memoryBytes }) => [
      ["memory.limit_in_bytes", memoryBytes],
      // memory and swap together
      ["memory.memsw.limit_in_bytes", memoryBytes, true],
    ],
    pids: ({ processes }) => [["pids.max", processes]],
    cpu: ({ cpus }) => [
      ["cpu.cfs_period_us", CPU_PERIOD_US],
      ["cpu.cfs_quota_us", Math.round(cpus * CPU_PERIOD_US)],
    ],
  },
  2: {
    memory: ({ memoryBytes }) => [
      ["memory.max", memoryBytes],
      ["memory.swap.max", 0, true],
    ],
    pids: ({ processes }) => [["pids.max", processes]],
    cpu: ({ cpus }) => [["cpu.max", `${Math.round(cpus * CPU_PERIOD_US)} ${CPU_PERIOD_US}`]],
  },
};

/** Version 1: one hierarchy per controller. */
function legacy(root: string, own: string): Cgroups[] {
  const parents: Parents = {};
  for (const [, controllers = "", path = ""] of own.matchAll(/^\d+:([^:\n]*):(\/.*)$/gm))
    for (const controller of CONTROLLERS)
      if (controllers.split(",").includes(controller))
        parents[controller] = resolve(root, controller, `.${path}`);
  return withMemory(1, parents);
}

/** Version 2: one hierarchy. The server's own group and its ancestors. */
async function unified(root: string, own: string, user: number): Promise<Cgroups[]> {
  const path = /^0::(\/.*)$/m.exec(own)?.[1];
  if (path === undefined) return [];
  const found: Cgroups[] = [];
  for (let folder = resolve(root, `.${path}`); ; folder = dirname(folder)) {
    await delegate(folder, user);
    const given = (await readKernelFile(join(folder, "cgroup.subtree_control"))).trim().split(" ");
    const delegated = CONTROLLERS.filter((controller) => given.includes(controller));
    found.push(...withMemory(2, Object.fromEntries(delegated.map((controller) => [controller, folder]))));
    if (folder.length <= root.length) return found;
  }
}

/** Groups without the memory controller are not used: polling then limits the memory, which matters most. */
function withMemory(version: 1 | 2, parents: Parents): Cgroups[] {
  const { memory } = parents;
  return memory === undefined ? [] : [{ version, parents: { ...parents, memory } }];
}

/** Enables the controllers for the children of a group that was delegated to an ordinary user. */
async function delegate(folder: string, user: number): Promise<void> {
  const owner = await stat(folder).then(
    ({ uid }) => uid,
    () => null,
  );
  if (owner !== user || user === 0) return;
  const wanted = CONTROLLERS.map((controller) => `+${controller}`).join(" ");
  // fails for a group that has processes of its own
  await writeFile(join(folder, "cgroup.subtree_control"), wanted, { flag: "r+" }).catch(() => {});
}

async function works(cgroups: Cgroups): Promise<boolean> {
  const name = `svc-trial-${randomUUID()}`;
  const limits: SandboxLimits = { cpus: 1, memoryBytes: 64 * 1024 ** 2, processes: 16, diskBytes: 0 };
  const folders = cgroupsNamed(cgroups, name);
  try {
    await createCgroups(cgroups, name, limits);
    const trial = Bun.spawn(["/bin/sh", "-c", JOIN], {
      env: {},
      stdio: [new Blob([folders.map((folder) => `${folder}\n`).join("")]), "ignore", "ignore"],
      timeout: TRIAL_MS,
      killSignal: "SIGKILL",
    });
    return (await trial.exited) === 0;
  } catch {
    return false;
  } finally {
    await removeCgroups(folders).catch(() => {});
  }
}

/** A shell command that joins the groups named on its standard input, one per line. */
export const JOIN = 'while IFS= read -r group; do echo 0 >"$group/cgroup.procs" || exit; done';
