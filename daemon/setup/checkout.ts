import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { LOCKFILES, type SetupCheckout } from "../../src/contract/setup.ts";
import type { WorkspaceGit } from "../saved/workspace-git.ts";
import type { Settings } from "../settings.ts";

const STATUS = ["status", "--porcelain", "-z", "--no-renames"];
const GLOBS = LOCKFILES.map((name) => `:(glob)**/${name}`);
const WITH_GLOBS = { environment: { GIT_LITERAL_PATHSPECS: "0" } };

/**
 * What the setup command finds in the workspace, before anything of the repository has run.
 * @returns null when a lockfile differs from the commit
 * @throws SaveError
 */
export async function readCheckout({ must }: WorkspaceGit): Promise<SetupCheckout | null> {
  const commit = await readHead(must);
  const changed = await must("git could not read the changes", [...STATUS, "--untracked-files=all"]);
  const ofLockfiles = [...STATUS, "--untracked-files=all", "--", ...GLOBS];
  if ((await must("git could not read the changes", ofLockfiles, WITH_GLOBS)).length > 0) return null;
  const listed = await must(
    "git could not list files",
    ["ls-files", "--stage", "-z", "--", ...GLOBS],
    WITH_GLOBS,
  );
  const lockfiles = createHash("sha256").update(listed).digest("hex");
  return { commit, isClean: changed.length === 0, lockfiles };
}

/**
 * What the command has added: paths below `workspace/` and `home/`, in latin1.
 * @returns null when that is not all that it has done, or a name has a line break
 * @throws SaveError
 */
export async function listAdded(
  { must }: WorkspaceGit,
  { home }: Pick<Settings, "home">,
  { commit }: SetupCheckout,
): Promise<string[] | null> {
  const changed = await must("git could not read the changes", [...STATUS, "--untracked-files=no"]);
  if (changed.length > 0 || (await readHead(must)) !== commit) return null;
  // also those that git does not ignore: the workspace was clean
  const listed = await must("git could not list files", ["ls-files", "--others", "--directory", "-z"]);
  const added = [
    ...listed
      .toString("latin1")
      .split("\0")
      .filter(Boolean)
      .map((path) => `workspace/${path}`),
    ...(await readdir(home, { encoding: "buffer" })).map((name) => `home/${name.toString("latin1")}`),
  ];
  return added.some((path) => path.includes("\n")) ? null : added;
}

async function readHead(must: WorkspaceGit["must"]): Promise<string> {
  return (await must("git could not read the commit", ["rev-parse", "HEAD"])).toString().trim();
}
