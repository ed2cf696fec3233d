import { chown, mkdir } from "node:fs/promises";
import { workspaceCommand } from "../git/git.ts";
import { run } from "../process/run.ts";
import { type AppContext, AppError, VOLUME } from "./context.ts";
import { findFolder } from "./folder.ts";

/** Writing the files of a large commit. */
const CHECKOUT_MS = 5 * 60_000;

/**
 * Checks out the commit to deploy or check in the workspace, a clone of its branch.
 * @throws AppError if the commit is not on the branch, or the app's root does not exist
 */
export async function checkOut(context: AppContext, signal: AbortSignal): Promise<void> {
  const { settings, app, children } = context;
  const { home, user, inherited } = settings;
  await mkdir(home, { recursive: true });
  for (const folder of [home, inherited[VOLUME]])
    if (user && folder !== undefined) await chown(folder, user.uid, user.gid);
  const command = workspaceCommand(settings, ["checkout", "--quiet", "--force", "--detach", app.commit]);
  const ran = await run(children, command, CHECKOUT_MS, signal);
  if (ran.code !== 0)
    throw new AppError(
      "build",
      `The commit ${app.commit.slice(0, 12)} is no longer on the branch ${settings.branch}.`,
    );
  const missing = `The repository has no folder ${app.rootPath}, the app's root_path.`;
  await findFolder(settings.workspace, app.rootPath, missing);
}
