import { stat } from "node:fs/promises";
import type { ProviderOptions, Sandbox } from "../provider.ts";
import { type Folder, readNumber, readState } from "./folder.ts";
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
  const { generation, pid, started, port } = state;
  const exitCode = await readNumber(folder, "exit");
  const first = await processAt(pid);
  const isRunning = exitCode === null && first !== null && !first.isOver && first.started === started;
  if (!isRunning) return { ...ended, generation, exitCode };
  return { ...ended, generation, state: "running", address: { hostname: "127.0.0.1", port } };
}
