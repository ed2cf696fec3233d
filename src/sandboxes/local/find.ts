import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { ProviderOptions, Sandbox, SandboxAddress } from "../provider.ts";
import { countOomKills } from "./cgroup.ts";
import { type Folder, readCgroups, readNumber, readState, type State } from "./folder.ts";
import { countPolledKills } from "./memory.ts";
import { DAEMON_SOCKET } from "./network.ts";
import { processAt } from "./processes.ts";

/** What a sandbox's folder and processes say about it; null when there is no folder, or it is another installation's. */
export async function findSandbox(
  { installation }: Pick<ProviderOptions, "installation">,
  folder: Folder,
  sessionId: string,
): Promise<Sandbox | null> {
  const exists = await stat(folder.path).then(
    () => true,
    () => false,
  );
  if (!exists) return null;
  const state = await readState(folder);
  const ended: Sandbox = {
    sessionId,
    generation: null,
    address: null,
    state: "ended",
    exitCode: null,
    outOfMemory: false,
  };
  if (!state) return ended;
  if (state.installation !== installation) return null;
  const { generation, pid, started } = state;
  const exitCode = await readNumber(folder, "exit");
  const first = await processAt(pid);
  const isRunning = exitCode === null && first !== null && !first.isOver && first.started === started;
  if (!isRunning) {
    const outOfMemory = exitCode === KILLED && (await memoryKills(folder)) > 0;
    return { ...ended, generation, exitCode, outOfMemory };
  }
  return { ...ended, generation, state: "running", address: addressOf(folder, state) };
}

/** 128 + SIGKILL */
const KILLED = 137;

/** The number of processes killed because the sandbox exceeded its memory limit. */
export async function memoryKills(folder: Folder): Promise<number> {
  return (await countOomKills(await readCgroups(folder))) + (await countPolledKills(folder));
}

/** A daemon with a network of its own is reached by its socket. */
export function addressOf(folder: Folder, { port, walls }: Pick<State, "port" | "walls">): SandboxAddress {
  if (walls?.includes("network")) return { unix: join(folder.link, DAEMON_SOCKET) };
  return { hostname: "127.0.0.1", port };
}
