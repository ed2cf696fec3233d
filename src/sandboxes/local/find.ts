import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { ProviderOptions, Sandbox, SandboxAddress } from "../provider.ts";
import { countOomKills } from "./cgroup.ts";
import { type Folder, readCgroups, readNumber, readState, type State } from "./folder.ts";
import { countPolledKills } from "./memory.ts";
import { DAEMON_SOCKET } from "./network.ts";
import { processAt } from "./processes.ts";

/** A sandbox's state, from its folder and processes; null without a folder, or when it belongs to another installation. */
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
  // the supervisor records the exit code before it exits: looked for in this order, no ended sandbox lacks it
  const supervisor = await processAt(pid);
  const exitCode = await readNumber(folder, "exit");
  const isRunning = exitCode === null && supervisor?.started === started && !supervisor.isZombie;
  if (!isRunning) {
    const outOfMemory = exitCode === KILLED && (await countMemoryKills(folder)) > 0;
    return { ...ended, generation, exitCode, outOfMemory };
  }
  return { ...ended, generation, state: "running", address: addressOf(folder, state) };
}

/** 128 + SIGKILL */
const KILLED = 137;

/** The number of processes killed because the sandbox exceeded its memory limit. */
export async function countMemoryKills(folder: Folder): Promise<number> {
  return (await countOomKills(await readCgroups(folder))) + (await countPolledKills(folder));
}

/** A daemon in its own network namespace is reached by its unix socket. */
export function addressOf(folder: Folder, { port, walls }: Pick<State, "port" | "walls">): SandboxAddress {
  if (walls?.includes("network")) return { unix: join(folder.link, DAEMON_SOCKET) };
  return { hostname: "127.0.0.1", port };
}
