import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { AgentConfig } from "../git/agent-config.ts";
import type { Log } from "../log.ts";
import type { Children } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import { createHome, writeHomeFiles } from "./home-files.ts";
import { createConfigRestore } from "./restore-config.ts";
import { writeAgentConfig } from "./write-agent-config.ts";

/** The runtime reads it in the clone, too, where a repository has it. */
const OTHER_FOLDER = ".opencode";

/**
 * Gets home and clone ready for a start of the runtime.
 * @returns what puts back what the start has changed in the clone
 * @throws AgentConfigWriteError
 */
export async function prepareHome(
  context: { settings: Settings; children: Children; log: Log },
  config: AgentConfig,
): Promise<() => Promise<void>> {
  const folders = (await isFolder(join(context.settings.workspace, OTHER_FOLDER))) ? [OTHER_FOLDER] : [];
  await createHome(context.settings);
  await writeAgentConfig(context, config);
  const [isLaidOut, restore] = await Promise.all([
    writeHomeFiles(context, folders),
    createConfigRestore(context, folders),
  ]);
  if (!isLaidOut)
    context.log.info("svc's skill and the packages of plugins could not all be laid out for the runtime");
  return restore;
}

async function isFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}
