import { appendFile, mkdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { systemCode } from "./failure.ts";

/** The file of a clone with the patterns that git ignores in it, which is no part of the repository (gitignore(5)). */
export async function excludeFile(gitDir: string): Promise<string> {
  // a linked work tree shares it with the main one
  const common = await readFile(join(gitDir, "commondir"), "utf8").catch(() => null);
  return join(common === null ? gitDir : resolve(gitDir, common.trimEnd()), "info", "exclude");
}

/** Adds a pattern to it, once. @throws system errors */
export async function addExclude(file: string, pattern: string): Promise<void> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return "";
    throw error;
  });
  if (text.split(/\r?\n/).includes(pattern)) return;
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${text === "" || text.endsWith("\n") ? "" : "\n"}${pattern}\n`);
}

/** The pattern of one path, relative to the top of the work tree. */
export const excludePattern = (path: string): string => `/${path.replace(/[\\*?[\] ]/g, "\\$&")}`;
