import { readFileSync } from "node:fs";

/** The resident memory of a process; Linux only. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kilobytes) * 1024) / 1_000_000;
}
