import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError, systemCode } from "../../failure.ts";
import { findRepository } from "../../git-branch.ts";
import { addExclude, excludeFile } from "../../git-exclude.ts";
import { linkPath } from "../../link.ts";

/** The content of `.svc/.gitignore`, which is part of the repository like the rest of `.svc`. */
export const IGNORED = "link.json\n";
/** Matches the links of subfolders too. */
const PATTERN = "**/.svc/link.json";

/**
 * Keeps the link of a folder out of commits: a link belongs to one clone, and in a commit it would stop `git switch`. Adds it
 * to the clone's own `info/exclude`, so that no file of the repository changes; outside of a repository, to `.svc/.gitignore`,
 * as `svc init` does.
 * @throws CliError `file`
 */
export async function ignoreLink(folder: string): Promise<void> {
  const repository = await findRepository(folder);
  const file = repository
    ? await excludeFile(repository.gitDir)
    : join(dirname(linkPath(folder)), ".gitignore");
  try {
    if (repository) await addExclude(file, PATTERN);
    else await writeFile(file, IGNORED, { flag: "wx" });
  } catch (error) {
    const code = systemCode(error) ?? "unknown error";
    if (code === "EEXIST" && !repository) return;
    throw new CliError("file", `${file} cannot be written (${code}), so git would commit the link.`, {
      hint: "Make the file writable, then link again.",
    });
  }
}
