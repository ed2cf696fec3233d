import { readFileSync } from "node:fs";

/** A process, so that another one with the same id is not taken for it. */
export interface Process {
  pid: number;
  /** When it started: on Linux the boot and the clock tick, elsewhere the date. */
  id: string;
}

/** @returns null if there is no such process */
export function processOf(pid: number): Process | null {
  if (!Number.isSafeInteger(pid) || pid <= 1) return null;
  const id = process.platform === "linux" ? fromProc(pid) : fromPs(pid);
  return id === null ? null : { pid, id };
}

/** Whether this very process still runs. */
export const isAlive = (known: Process): boolean => processOf(known.pid)?.id === known.id;

/** Sends a signal, unless the process has ended and another has its id. @returns whether it was sent */
export function signal(known: Process, name: NodeJS.Signals): boolean {
  if (!isAlive(known)) return false;
  try {
    process.kill(known.pid, name);
    return true;
  } catch {
    return false;
  }
}

/** `/proc/<pid>/stat` after the name in brackets: the state, then field 22, the start in clock ticks since the boot. */
function fromProc(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state = ""] = fields;
    // a zombie has ended
    if (state === "Z" || state === "X") return null;
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${boot} ${fields[19]}`;
  } catch {
    return null;
  }
}

function fromPs(pid: number): string | null {
  const listed = Bun.spawnSync(["ps", "-o", "stat=,lstart=", "-p", `${pid}`], {
    env: { ...process.env, LC_ALL: "C" },
    stdin: "ignore",
    stderr: "ignore",
  });
  const [, state = "", started = ""] = /^\s*(\S+)\s+(.+?)\s*$/m.exec(listed.stdout.toString()) ?? [];
  return started === "" || state.startsWith("Z") ? null : started;
}
