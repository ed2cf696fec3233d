import { readdirSync, readFileSync } from "node:fs";

/**
 * Signals a process and its descendants. Git does not forward signals to its transport helpers, which would otherwise
 * finish a push after git has exited.
 */
export function signalTree(root: number, signal: NodeJS.Signals): void {
  const parents = process.platform === "linux" ? fromProc() : fromPs();
  const wanted = [root];
  for (const pid of wanted) {
    wanted.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child));
  }
  for (const pid of wanted) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has exited already.
    }
  }
}

type Parents = [pid: number, parent: number][];

/** `/proc/<pid>/stat`: id, name in brackets, state, parent. */
function fromProc(): Parents {
  return readdirSync("/proc").flatMap((name): Parents => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      return [[Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])]];
    } catch {
      return [];
    }
  });
}

function fromPs(): Parents {
  const listed = Bun.spawnSync(["ps", "-axo", "pid=,ppid="], { stdin: "ignore", stderr: "ignore" });
  const rows = listed.stdout.toString().split("\n");
  return rows.map((row) => {
    const [pid = 0, parent = 0] = row.trim().split(/\s+/).map(Number);
    return [pid, parent];
  });
}
