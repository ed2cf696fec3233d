import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { AgentConfig } from "../git/agent-config.ts";
import type { Log } from "../log.ts";
import type { Children } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import { createHome, writeHomeFiles } from "./home-files.ts";
import { createConfigRestore } from "./restore-config.ts";
import { writeAgentConfig } from "./write-agent-config.ts";

/** The runtime also reads this folder of the repository. */
const CONFIG_FOLDER = ".opencode";

/**
 * Prepares the home and the clone for a start of the runtime.
 * @returns restores the configuration files in the clone that the start changes
 * @throws AgentConfigWriteError
 */
export async function prepareHome(
  context: { settings: Settings; children: Children; log: Log },
  config: AgentConfig,
): Promise<() => Promise<void>> {
  const folders = (await isFolder(join(context.settings.workspace, CONFIG_FOLDER))) ? [CONFIG_FOLDER] : [];
  await createHome(context.settings);
  await writeAgentConfig(context, config);
  const [isWritten, restore] = await Promise.all([
    writeHomeFiles(context, folders),
    createConfigRestore(context, folders),
  ]);
  if (!isWritten)
    context.log.info("svc's skill or the packages of plugins could not be written to the runtime's home");
  return restore;
}

async function isFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}
