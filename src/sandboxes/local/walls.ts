import { randomUUID } from "node:crypto";
import { SandboxError } from "../provider.ts";
import { behindWalls, findTools, furnish, INSIDE, RUNTIME_WRAP, type Tools } from "./bubblewrap.ts";
import { folderOf, makeFolder, removeFolder } from "./folder.ts";

/** What keeps sandboxes apart on this machine: bubblewrap, or nothing, and why. */
export type Walls = { tools: Tools } | { missing: string };

/** To start three programs, on a machine that is busy. */
const TRY_MS = 10_000;
/** Above what two small programs need. */
const TRY_PROCESSES = 64;
const REASON_MAX = 200;

/**
 * Tries bubblewrap, as it is used: whether it may make namespaces is up to the kernel and its security modules.
 * @throws SandboxError when it cannot be known now
 */
export async function findWalls({
  dataDir,
  plain = false,
}: {
  dataDir: string;
  plain?: boolean;
}): Promise<Walls> {
  if (plain) return { missing: "bubblewrap is switched off" };
  if (process.platform !== "linux") return { missing: "bubblewrap works on Linux only" };
  const tools = findTools();
  if (!tools) return { missing: "bubblewrap is not installed" };
  const folder = folderOf(dataDir, randomUUID());
  await makeFolder(folder);
  try {
    await furnish(folder);
    const inside = ["sh", "-c", 'touch "$0/try" && exec "$@"', INSIDE.workspace, ...RUNTIME_WRAP, "true"];
    const trial = Bun.spawn(behindWalls(tools, folder, {}, TRY_PROCESSES, inside), {
      env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      stdio: ["ignore", "ignore", "pipe"],
      timeout: TRY_MS,
      killSignal: "SIGKILL",
    });
    const words = await new Response(trial.stderr).text();
    const code = await trial.exited;
    if (code === 0) return { tools };
    // a machine that is busy is no reason to do without
    if (trial.signalCode) throw new SandboxError("bubblewrap did not start in time on the server's machine.");
    const reason = words.trim().split("\n").at(-1)?.slice(0, REASON_MAX) || `exit code ${code}`;
    return { missing: `bubblewrap does not work here (${reason})` };
  } finally {
    await removeFolder(folder);
  }
}
