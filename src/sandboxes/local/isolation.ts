import { setTimeout as sleep } from "node:timers/promises";
import { WALLS, type Wall } from "../../contract/session.ts";
import { SandboxError } from "../provider.ts";
import {
  bubblewrapCommand,
  findTools,
  INSIDE,
  prepareFolder,
  RUNTIME_WRAP,
  SYSCALL_FILTER,
  type Tools,
} from "./bubblewrap.ts";
import { type Cgroups, findCgroups } from "./cgroup.ts";
import { createFolder, removeFolder, trialFolder } from "./folder.ts";
import { type Missing, remedyOf } from "./remedy.ts";

/** What isolates local sandboxes: bubblewrap; null with `SVC_SANDBOX_ISOLATION=none`. */
export type Isolation = (Tools & { cgroups: Cgroups | null }) | null;

export interface IsolationOptions {
  dataDir: string;
  /** `SVC_SANDBOX_ISOLATION`. */
  isolation: "required" | "none";
  /** For tests. */
  findTools?: typeof findTools;
  findCgroups?: typeof findCgroups;
}

/** For three programs to start on a busy machine. */
const TRY_MS = 60_000;
/** More than two small programs need. */
const TRY_PROCESSES = 64;
/** Before each retry: a machine that is short of memory or processes recovers within seconds. */
const BACKOFF_MS = [250, 1_000, 3_000];
const REASON_MAX = 200;

/**
 * Finds the isolation of local sandboxes. It tests bubblewrap with the arguments of a sandbox, since the kernel and its
 * security modules decide whether it may create namespaces.
 * @throws SandboxError with the reason and the command that fixes it, when isolation is required and not available
 */
export async function findIsolation({ dataDir, isolation, ...rest }: IsolationOptions): Promise<Isolation> {
  if (isolation === "none") return null;
  if (process.platform !== "linux") throw notIsolated({ kind: "platform" });
  const tools = (rest.findTools ?? findTools)();
  if ("missing" in tools) throw notIsolated({ kind: "program", program: tools.missing });
  for (let tries = 0; ; tries++) {
    const reason = await tryBubblewrap(tools, dataDir);
    if (reason === null) return { ...tools, cgroups: await (rest.findCgroups ?? findCgroups)() };
    const backoff = BACKOFF_MS[tries];
    if (backoff === undefined) throw notIsolated({ kind: "refused", reason });
    await sleep(backoff);
  }
}

/** The walls of a sandbox, as in the API. */
export function wallsOf(isolation: Isolation): readonly Wall[] {
  if (isolation === null) return [];
  const cgroups = isolation.cgroups?.parents;
  const has: Record<Wall, boolean> = {
    files: true,
    processes: true,
    user: true,
    network: true,
    syscalls: SYSCALL_FILTER !== null,
    process_limit: isolation.prlimit !== null || cgroups?.pids !== undefined,
    // enforced by the kernel or by polling
    memory_limit: true,
    cpu_limit: cgroups?.cpu !== undefined,
    disk_limit: false,
  };
  return WALLS.filter((wall) => has[wall]);
}

function notIsolated(missing: Missing): SandboxError {
  const { reason, remedy } = remedyOf(missing);
  return new SandboxError(`Local sandboxes cannot be isolated: ${reason}. ${remedy}`, {
    permanent: missing.kind !== "refused",
  });
}

/** Runs a program in bubblewrap. @returns why that failed; null when it worked */
async function tryBubblewrap(tools: Tools, dataDir: string): Promise<string | null> {
  const folder = trialFolder(dataDir);
  try {
    await createFolder(folder);
    await prepareFolder(folder);
    const inside = ["sh", "-c", 'touch "$0/try" && exec "$@"', INSIDE.workspace, ...RUNTIME_WRAP, "true"];
    const trial = Bun.spawn(bubblewrapCommand(tools, folder, {}, null, TRY_PROCESSES, inside), {
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      stdio: ["ignore", "ignore", "pipe"],
      timeout: TRY_MS,
      killSignal: "SIGKILL",
    });
    const stderr = await new Response(trial.stderr).text();
    const code = await trial.exited;
    if (code === 0) return null;
    if (trial.signalCode) return `it did not start within ${TRY_MS / 1000} seconds`;
    return stderr.trim().split("\n").at(-1)?.slice(0, REASON_MAX) || `exit code ${code}`;
  } finally {
    await removeFolder(folder);
  }
}
