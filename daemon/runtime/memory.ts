import { readFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { listDescendants } from "../process/tree.ts";
import { serveArguments } from "./launch.ts";

/** Bytes of the runtime's own process: what its tools run is not counted. */
export interface MemoryLimits {
  /** Past it the runtime is started again as soon as nothing runs. */
  soft: number;
  /** Past it at once: soon the kernel would end something in the sandbox, and choose what. */
  hard: number;
}

const GIB = 1024 ** 3;
/** opencode 1.18 takes 0.3 to 0.9 GiB; one that leaks passes these within a day or two of work. */
const SOFT = { least: 1.5 * GIB, most: 4 * GIB, part: 0.6 };
const HARD = { most: 8 * GIB, part: 0.85 };

/** For a sandbox with so much memory. */
export function limitsFor(bytes: number): MemoryLimits {
  const soft = Math.max(SOFT.least, Math.min(SOFT.most, bytes * SOFT.part));
  return { soft, hard: Math.max(soft, Math.min(HARD.most, bytes * HARD.part)) };
}

/** What the kernel lets this sandbox have: of its control group (cgroups(7), both versions), else of the machine. */
export async function memoryOfSandbox(): Promise<number> {
  const files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
  const texts = await Promise.all(files.map((file) => readFile(file, "latin1").catch(() => "")));
  const limits = texts.map((text) => text.trim()).filter((text) => /^\d{1,19}$/.test(text));
  return Math.min(totalmem(), ...limits.map(Number));
}

/**
 * Bytes that the runtime's program itself holds: what wraps it has the same words in its command line, and is above it.
 * Null when it is not found, or the system has no /proc.
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
