import { chown, mkdir } from "node:fs/promises";
import { workspaceCommand } from "../git/git.ts";
import { run } from "../process/run.ts";
import { type AppContext, AppError } from "./context.ts";
import { findFolder } from "./folder.ts";

/** Writing the files of a large commit. */
const CHECKOUT_MS = 5 * 60_000;

/**
 * Puts the commit that is to be deployed into the workspace, which has a clone of the default branch.
 * @throws AppError when the branch does not have it any more, or nothing stands at the app's root
 */
export async function checkOut(context: AppContext, signal: AbortSignal): Promise<void> {
  const { settings, app, children } = context;
  await mkdir(settings.home, { recursive: true });
  if (settings.user) await chown(settings.home, settings.user.uid, settings.user.gid);
  const command = workspaceCommand(settings, ["checkout", "--quiet", "--force", "--detach", app.commit]);
  const ran = await run(children, command, CHECKOUT_MS, signal);
  if (ran.code !== 0)
    throw new AppError(
      "build",
      `The commit ${app.commit.slice(0, 12)} is not on the default branch any more.`,
    );
  const missing = `The repository has no folder ${app.rootPath}, the app's root_path.`;
  await findFolder(settings.workspace, app.rootPath, missing);
}
