import { readFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { listDescendants } from "../process/tree.ts";
import { serveArguments } from "./launch.ts";

/** Limits in bytes of the runtime's own process, without the programs that its tools run. */
export interface MemoryLimits {
  /** Above it, the runtime is restarted once no run is under way. */
  soft: number;
  /** Above it, the runtime is restarted at once, before the kernel kills a process in the sandbox. */
  hard: number;
}

const GIB = 1024 ** 3;
/** opencode 1.18 uses 0.3 to 0.9 GiB; with a leak it exceeds these limits after a day or two of work. */
const SOFT = { least: 1.5 * GIB, most: 4 * GIB, part: 0.6 };
const HARD = { most: 8 * GIB, part: 0.85 };

/** The limits for a sandbox with this amount of memory. */
export function limitsFor(bytes: number): MemoryLimits {
  const soft = Math.max(SOFT.least, Math.min(SOFT.most, bytes * SOFT.part));
  return { soft, hard: Math.max(soft, Math.min(HARD.most, bytes * HARD.part)) };
}

/** The memory limit of the sandbox's control group (cgroups(7), both versions), or the memory of the machine. */
export async function memoryOfSandbox(): Promise<number> {
  const files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
  const texts = await Promise.all(files.map((file) => readFile(file, "latin1").catch(() => "")));
  const limits = texts.map((text) => text.trim()).filter((text) => /^\d{1,19}$/.test(text));
  return Math.min(totalmem(), ...limits.map(Number));
}

/**
 * The resident memory of the runtime's program, in bytes. Its wrapper has the same arguments, and is its ancestor.
 * Null if the process is not found, or the system has no /proc.
 */
export async function memoryOf(pid: number, port: number): Promise<number | null> {
  const words = `\0${serveArguments(port).join("\0")}\0`;
  let bytes: number | null = null;
  for (const candidate of [pid, ...(await listDescendants(pid))]) {
    const line = await readFile(`/proc/${candidate}/cmdline`, "latin1").catch(() => "");
    if (!line.endsWith(words)) continue;
    const status = await readFile(`/proc/${candidate}/status`, "latin1").catch(() => "");
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    if (kilobytes !== undefined) bytes = Number(kilobytes) * 1024;
  }
  return bytes;
}
