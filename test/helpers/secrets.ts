import { readdir } from "node:fs/promises";
import { filesIn, readOrGone } from "./stored.ts";

/** The command lines of every process of this machine, as any of its users can read them. */
export async function allCommandLines(): Promise<string> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const lines = pids.map((pid) =>
    Bun.file(`/proc/${pid}/cmdline`)
      .text()
      .catch(() => ""),
  );
  return (await Promise.all(lines)).join("\n");
}

/** The files of a directory that contain one of these. */
export async function filesWith(directory: string, needles: readonly string[]): Promise<string[]> {
  return filesIn(directory).filter((file) => {
    const text = readOrGone(file);
    return needles.some((needle) => text.includes(needle));
  });
}
