import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "./context.ts";

/**
 * @returns the real path of a folder inside `parent`
 * @throws AppError with the message `missing` if it does not exist, or a link leads out of `parent`
 */
export async function findFolder(parent: string, path: string, missing: string): Promise<string> {
  const [folder, root] = await Promise.all([realpath(join(parent, path)).catch(() => ""), realpath(parent)]);
  const isInside = folder === root || folder.startsWith(`${root}/`);
  if (isInside && (await stat(folder)).isDirectory()) return folder;
  throw new AppError("build", missing);
}
