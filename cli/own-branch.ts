import type { Context } from "./context.ts";
import { currentBranch } from "./git-branch.ts";
import type { ProjectRef } from "./project.ts";

/**
 * The branch of a command that names none: in a session its own, and in a clone of the project the current one. Null elsewhere,
 * also where the project is named by a flag or a variable: the clone may be of another one.
 */
export async function ownBranch({ system }: Context, project: ProjectRef): Promise<string | null> {
  const { env, cwd } = system;
  const ofSession = env["SVC_BRANCH_NAME"] || env["SVC_HEAD_REF"];
  if (ofSession) return ofSession;
  return project.source === "link" || project.source === "remote" ? currentBranch(cwd) : null;
}
