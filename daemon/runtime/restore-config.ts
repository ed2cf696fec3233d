import { workspaceCommand } from "../git/git.ts";
import type { Children } from "../process/children.ts";
import { run } from "../process/run.ts";
import type { Settings } from "../settings.ts";

interface Context {
  settings: Settings;
  children: Children;
}

const GIT_MS = 10_000;
const NAMES = ["opencode.json", "opencode.jsonc"];

/**
 * Prevents that a start of the runtime leaves changes in the clone: it adds `$schema` to its configuration files, so that
 * the branch could not be fast-forwarded. Call this before the start.
 * @param folders folders that the runtime reads, relative to the workspace
 * @returns restores the files that had no changes before the start; call it before the agent works in the clone
 */
export async function createConfigRestore(
  context: Context,
  folders: readonly string[],
): Promise<() => Promise<void>> {
  const files = [...NAMES, ...folders.flatMap((folder) => NAMES.map((name) => `${folder}/${name}`))];
  const tracked = await list(context, ["ls-files", "-z", "--", ...files]);
  if (tracked.length === 0) return async () => {};
  const changed = () => list(context, ["diff", "--name-only", "-z", "HEAD", "--", ...tracked]);
  const before = new Set(await changed());
  return async () => {
    const modified = (await changed()).filter((name) => !before.has(name));
    if (modified.length > 0) await list(context, ["checkout", "--quiet", "HEAD", "--", ...modified]);
  };
}

/** The NUL-separated output of a git command in the workspace; empty if it fails. */
async function list({ settings, children }: Context, words: readonly string[]): Promise<string[]> {
  const command = workspaceCommand(settings, ["--literal-pathspecs", ...words]);
  const ran = await run(children, command, GIT_MS).catch(() => null);
  return ran?.code === 0 ? ran.stdout.split("\0").filter(Boolean) : [];
}
