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

interface HomeContext {
  settings: Settings;
  children: Children;
  log: Log;
}

/** Prepares the home for the runtime's process, which may start before there is a clone. */
export async function prepareHome(context: HomeContext): Promise<void> {
  await createHome(context.settings);
  await writeFiles(context, []);
}

/**
 * Prepares the home, which exists, and the clone for the runtime to read its configuration.
 * @returns restores the configuration files in the clone that the start changes
 * @throws AgentConfigWriteError
 */
export async function prepareWorkspace(
  context: HomeContext,
  config: AgentConfig,
): Promise<() => Promise<void>> {
  const folders = (await isFolder(join(context.settings.workspace, CONFIG_FOLDER))) ? [CONFIG_FOLDER] : [];
  await writeAgentConfig(context, config);
  const [restore] = await Promise.all([createConfigRestore(context, folders), writeFiles(context, folders)]);
  return restore;
}

async function writeFiles(context: HomeContext, folders: readonly string[]): Promise<void> {
  if (await writeHomeFiles(context, folders)) return;
  context.log.info("svc's skill or the packages of plugins could not be written to the runtime's home");
}

async function isFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}
