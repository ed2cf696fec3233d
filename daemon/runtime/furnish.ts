import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../log.ts";
import type { Children } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import { configFolder } from "./config-folder.ts";
import { prepareHome } from "./home.ts";
import { keepUntouched } from "./untouched.ts";

/** The runtime reads it, too, where a repository has it. */
const OTHER_FOLDER = ".opencode";

/**
 * Gets home and clone ready for a start of the runtime.
 * @returns the folder of the project's configuration, relative to the workspace; and what puts back what the start has
 *   changed in the clone
 */
export async function furnish(context: {
  settings: Settings;
  children: Children;
  log: Log;
}): Promise<{ folder: string; restore: () => Promise<void> }> {
  const { workspace } = context.settings;
  const folder = await configFolder(workspace);
  const folders = [folder, ...((await isFolder(join(workspace, OTHER_FOLDER))) ? [OTHER_FOLDER] : [])];
  const [isLaidOut, restore] = await Promise.all([
    prepareHome(context, folders),
    keepUntouched(context, folders),
  ]);
  if (!isLaidOut)
    context.log.say("svc's skill and the packages of plugins could not all be laid out for the runtime");
  return { folder, restore };
}

async function isFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}
