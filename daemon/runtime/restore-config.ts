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
 * The runtime writes `$schema` into each of its configuration files that has none: the clone would show a change that
 * nobody made, and could not be fast-forwarded. Notes which of those files are as git has them; what it returns puts
 * these back, and is to be called before anybody works in the clone.
 * @param folders of the workspace that the runtime reads, relative to it
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
    const ours = (await changed()).filter((name) => !before.has(name));
    if (ours.length > 0) await list(context, ["checkout", "--quiet", "HEAD", "--", ...ours]);
  };
}

/** What a git in the workspace prints, as its zero bytes divide it; nothing when it fails. */
async function list({ settings, children }: Context, words: readonly string[]): Promise<string[]> {
  const command = workspaceCommand(settings, ["--literal-pathspecs", ...words]);
  const ran = await run(children, command, GIT_MS).catch(() => null);
  return ran?.code === 0 ? ran.stdout.split("\0").filter(Boolean) : [];
}
