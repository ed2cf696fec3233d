import { readdir, readFile } from "node:fs/promises";

/** A process of this machine. */
export interface Process {
  pid: number;
  parent: number;
  /** When it began, in the system's own words: with the pid a name that is never given twice. */
  started: string;
  /** It has ended, and waits for its parent to notice. */
  isOver: boolean;
}

/** The processes of one sandbox are known by this variable, which all of them inherit. */
export const MARK = "SVC_SANDBOX";

/** For `ps`, where there is no /proc. */
const PS_MS = 5_000;

/**
 * The processes of a sandbox that run now: those with its mark, the first one, and whatever they have started.
 * @param first the process above all others, if it is known
 */
export async function processesOf(
  mark: string,
  first: { pid: number; started: string } | null,
): Promise<Process[]> {
  const all = (await allProcesses()).filter(({ isOver, pid }) => !isOver && pid !== process.pid);
  const marked = await Promise.all(all.map(async ({ pid }) => (await markOf(pid)) === mark));
  const found = all.filter(
    ({ pid, started }, index) => marked[index] || (pid === first?.pid && started === first.started),
  );
  return withDescendants(all, found);
}

/** These processes and whatever they have started, parents before their children. */
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

/** Signals a process; one that has ended is no error. */
export function signal(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has just ended
  }
}

/**
 * The process of a sandbox that is the `nth` in the pid namespace which bubblewrap has made for it (pid_namespaces(7)):
 * the first is bubblewrap's own, the second is what it was asked to start.
 */
export async function nthInside(processes: readonly Process[], nth: number): Promise<Process | null> {
  for (const candidate of processes) {
    const status = await readKernelFile(`/proc/${candidate.pid}/status`);
    const inside = /^NSpid:\t(\d+)\t(\d+)$/m.exec(status)?.[2];
    if (inside === String(nth)) return candidate;
  }
  return null;
}

/** The processes of this machine. */
export async function allProcesses(): Promise<Process[]> {
  if (process.platform !== "linux") return listed();
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
  return { pid, parent: Number(parent), started: `${boot} ${ticks}`, isOver: /^[ZXx]/.test(state) };
}

/** Begins are counted from the machine's own. */
async function bootId(): Promise<string> {
  return (await readKernelFile("/proc/sys/kernel/random/boot_id")).trim();
}

async function markOf(pid: number): Promise<string | null> {
  if (process.platform !== "linux") return null;
  const environment = await readKernelFile(`/proc/${pid}/environ`);
  return environment === "" ? null : (MARKED.exec(environment)?.[1] ?? null);
}

const MARKED = new RegExp(`(?:^|\\0)${MARK}=([^\\0]*)`);

/** All processes where there is no /proc, as ps(1) of POSIX lists them. */
async function listed(): Promise<Process[]> {
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
    return { pid: Number(pid), parent: Number(parent), started, isOver: state.startsWith("Z") };
  });
}

/** A file of /proc or /sys; empty when it is not there, or its process is gone. */
export async function readKernelFile(path: string): Promise<string> {
  return readFile(path, "latin1").catch(() => "");
}
