import { setTimeout as sleep } from "node:timers/promises";
import { WALLS, type Wall } from "../../contract/session.ts";
import { SandboxError } from "../provider.ts";
import {
  behindWalls,
  findTools,
  INSIDE,
  prepareFolder,
  RUNTIME_WRAP,
  SYSCALL_FILTER,
  type Tools,
} from "./bubblewrap.ts";
import { type Cgroups, findCgroups } from "./cgroup.ts";
import { makeFolder, removeFolder, trialFolder } from "./folder.ts";
import { type Missing, remedyOf } from "./remedy.ts";

/** What isolates the sandboxes of this machine: bubblewrap, or nothing, which the operator has chosen. */
export type Walls = (Tools & { cgroups: Cgroups | null }) | null;

/** `SVC_SANDBOX_ISOLATION`. */
export type Isolation = "required" | "none";

export interface WallsOptions {
  dataDir: string;
  isolation: Isolation;
  /** For tests. */
  findTools?: typeof findTools;
  findCgroups?: typeof findCgroups;
}

/** To start three programs, on a machine that is busy. */
const TRY_MS = 10_000;
/** Above what two small programs need. */
const TRY_PROCESSES = 64;
/** Before each further try: a machine that is short of memory or processes recovers within seconds. */
const BACKOFF_MS = [250, 1_000, 3_000];
const REASON_MAX = 200;

/**
 * Finds the walls of local sandboxes. Bubblewrap is tried as it is used, since the kernel and its security modules decide
 * whether it may create namespaces.
 * @throws SandboxError with the reason and the command that helps, when isolation is required and cannot be had
 */
export async function findWalls({ dataDir, isolation, ...options }: WallsOptions): Promise<Walls> {
  if (isolation === "none") return null;
  if (process.platform !== "linux") throw notIsolated({ kind: "platform" });
  const tools = (options.findTools ?? findTools)();
  if ("missing" in tools) throw notIsolated({ kind: "program", program: tools.missing });
  for (let tries = 0; ; tries++) {
    const reason = await whyNot(tools, dataDir);
    if (reason === null) return { ...tools, cgroups: await (options.findCgroups ?? findCgroups)() };
    const backoff = BACKOFF_MS[tries];
    if (backoff === undefined) throw notIsolated({ kind: "refused", reason });
    await sleep(backoff);
  }
}

/** The walls around a sandbox, as people and programs are shown them. */
export function wallsUp(walls: Walls): readonly Wall[] {
  if (walls === null) return [];
  const cgroups = walls.cgroups?.parents;
  const up: Record<Wall, boolean> = {
    files: true,
    processes: true,
    user: true,
    network: true,
    syscalls: SYSCALL_FILTER !== null,
    process_limit: walls.prlimit !== null || cgroups?.pids !== undefined,
    // enforced by the kernel or by polling
    memory_limit: true,
    cpu_limit: cgroups?.cpu !== undefined,
    disk_limit: false,
  };
  return WALLS.filter((wall) => up[wall]);
}

function notIsolated(missing: Missing): SandboxError {
  const { reason, remedy } = remedyOf(missing);
  return new SandboxError(`Local sandboxes cannot be isolated: ${reason}. ${remedy}`, {
    permanent: missing.kind !== "refused",
  });
}

/** Runs a program behind the walls. @returns why it did not work; null when it did */
async function whyNot(tools: Tools, dataDir: string): Promise<string | null> {
  const folder = trialFolder(dataDir);
  try {
    await makeFolder(folder);
    await prepareFolder(folder);
    const inside = ["sh", "-c", 'touch "$0/try" && exec "$@"', INSIDE.workspace, ...RUNTIME_WRAP, "true"];
    const trial = Bun.spawn(behindWalls(tools, folder, {}, TRY_PROCESSES, inside), {
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      stdio: ["ignore", "ignore", "pipe"],
      timeout: TRY_MS,
      killSignal: "SIGKILL",
    });
    const words = await new Response(trial.stderr).text();
    const code = await trial.exited;
    if (code === 0) return null;
    if (trial.signalCode) return `it did not start within ${TRY_MS / 1000} seconds`;
    return words.trim().split("\n").at(-1)?.slice(0, REASON_MAX) || `exit code ${code}`;
  } finally {
    await removeFolder(folder);
  }
}
