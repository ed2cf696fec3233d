import { readdir, readFile } from "node:fs/promises";

/** A process of this machine. */
export interface Process {
  pid: number;
  parent: number;
  /** Its start time, as the system reports it: unique together with the pid. */
  started: string;
  /** A zombie: it has ended, but its parent has not waited for it. */
  isZombie: boolean;
}

/** The variable that identifies a sandbox's processes: all of them inherit it. */
export const MARK = "SVC_SANDBOX";

/** For `ps`, where there is no /proc. */
const PS_MS = 5_000;

/**
 * The running processes of a sandbox: those with its mark, its supervisor, and their descendants.
 * @param first the supervisor, if it is known
 */
export async function processesOf(
  mark: string,
  first: { pid: number; started: string } | null,
): Promise<Process[]> {
  const all = (await allProcesses()).filter(({ isZombie, pid }) => !isZombie && pid !== process.pid);
  const marked = await Promise.all(all.map(async ({ pid }) => (await markOf(pid)) === mark));
  const found = all.filter(
    ({ pid, started }, index) => marked[index] || (pid === first?.pid && started === first.started),
  );
  return withDescendants(all, found);
}

/** These processes and their descendants, parents before children. */
export function withDescendants(all: readonly Process[], roots: readonly Process[]): Process[] {
  const found = [...roots];
  const known = new Set(found.map(({ pid }) => pid));
  for (const { pid } of found) {
    for (const child of all) {
      if (child.parent !== pid || known.has(child.pid)) continue;
      known.add(child.pid);
      found.push(child);
    }
  }
  return found;
}

/** A process by its pid; null when there is none. */
export async function processAt(pid: number): Promise<Process | null> {
  if (process.platform === "linux") return readProcess(pid, await bootId());
  return (await allProcesses()).find((candidate) => candidate.pid === pid) ?? null;
}

/** Signals a process. It is not an error if it has ended. */
export function signal(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has ended
  }
}

/** The process of a sandbox with this pid in bubblewrap's pid namespace (pid_namespaces(7)). */
export async function findByInnerPid(
  processes: readonly Process[],
  innerPid: number,
): Promise<Process | null> {
  for (const candidate of processes) {
    const status = await readKernelFile(`/proc/${candidate.pid}/status`);
    const inside = /^NSpid:\t(\d+)\t(\d+)$/m.exec(status)?.[2];
    if (inside === String(innerPid)) return candidate;
  }
  return null;
}

/** The processes of this machine. */
export async function allProcesses(): Promise<Process[]> {
  if (process.platform !== "linux") return listByPs();
  const boot = await bootId();
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const read = await Promise.all(pids.map((pid) => readProcess(Number(pid), boot)));
  return read.flatMap((process) => process ?? []);
}

/** proc_pid_stat(5); the name, in brackets, may hold anything. */
async function readProcess(pid: number, boot: string): Promise<Process | null> {
  const stat = await readKernelFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, ticks] = [fields[0], fields[1], fields[19]];
  if (!state || ticks === undefined) return null;
  return { pid, parent: Number(parent), started: `${boot} ${ticks}`, isZombie: /^[ZXx]/.test(state) };
}

/** Start times count from the boot of the machine. */
async function bootId(): Promise<string> {
  return (await readKernelFile("/proc/sys/kernel/random/boot_id")).trim();
}

async function markOf(pid: number): Promise<string | null> {
  if (process.platform !== "linux") return null;
  const environment = await readKernelFile(`/proc/${pid}/environ`);
  return environment === "" ? null : (MARKED.exec(environment)?.[1] ?? null);
}

const MARKED = new RegExp(`(?:^|\\0)${MARK}=([^\\0]*)`);

/** All processes by ps(1) of POSIX, where there is no /proc. */
async function listByPs(): Promise<Process[]> {
  const ps = Bun.spawn(["ps", "-A", "-o", "pid=,ppid=,stat=,lstart="], {
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    stdio: ["ignore", "pipe", "ignore"],
    timeout: PS_MS,
  });
  const lines = (await new Response(ps.stdout).text()).split("\n");
  return lines.flatMap((line) => {
    const [, pid, parent, state = "", started = ""] =
      /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (pid === undefined) return [];
    return { pid: Number(pid), parent: Number(parent), started, isZombie: state.startsWith("Z") };
  });
}

/** A file of /proc or /sys; empty when it does not exist, or its process has ended. */
export async function readKernelFile(path: string): Promise<string> {
  return readFile(path, "latin1").catch(() => "");
}
