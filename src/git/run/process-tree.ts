import { readFile } from "node:fs/promises";

/** Larger process trees are not measured; git's are smaller. */
const PROCESSES_MAX = 64;

/** A process and its descendants, each after its parent; null without /proc. */
export async function processTree(root: number): Promise<number[] | null> {
  if (process.platform !== "linux") return null;
  const pids = [root];
  for (let index = 0; index < pids.length && index < PROCESSES_MAX; index++) {
    const pid = pids[index];
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "");
    for (const child of children.split(" ")) if (child) pids.push(Number(child));
  }
  return pids;
}
