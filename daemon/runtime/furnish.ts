import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { AgentConfig } from "../git/agent-config.ts";
import type { Log } from "../log.ts";
import type { Children } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import { makeHome, prepareHome } from "./home.ts";
import { layOut } from "./lay-out.ts";
import { keepUntouched } from "./untouched.ts";

/** The runtime reads it in the clone, too, where a repository has it. */
const OTHER_FOLDER = ".opencode";

/**
 * Gets home and clone ready for a start of the runtime.
 * @returns what puts back what the start has changed in the clone
 * @throws LayOutError
 */
export async function furnish(
  context: { settings: Settings; children: Children; log: Log },
  config: AgentConfig,
): Promise<() => Promise<void>> {
  const folders = (await isFolder(join(context.settings.workspace, OTHER_FOLDER))) ? [OTHER_FOLDER] : [];
  await makeHome(context.settings);
  await layOut(context, config);
  const [isLaidOut, restore] = await Promise.all([
    prepareHome(context, folders),
    keepUntouched(context, folders),
  ]);
  if (!isLaidOut)
    context.log.say("svc's skill and the packages of plugins could not all be laid out for the runtime");
  return restore;
}

async function isFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}
