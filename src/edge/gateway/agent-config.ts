import { eq } from "drizzle-orm";
import { projects } from "../../../db/schema/index.ts";
import { AGENT_CONFIG_COMMIT } from "../../contract/daemon.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { findAgentConfig, packAgentConfig } from "../../features/projects/agent-config.ts";
import { runOf } from "./issue.ts";

/**
 * Sends the project's agents, skills and tools to the daemon of a sandbox: the folder of the default branch as a tar, with
 * paths relative to it; 204 without one. The folder of the session's own branch has no effect.
 * @param authorization as for a clone credential
 * @throws unauthorized, forbidden, not_found, repo_unreachable, payload_too_large
 */
export async function sendAgentConfig(
  deps: Deps,
  authorization: string | null,
  projectName: string,
): Promise<Response> {
  const { projectId } = await runOf(deps, authorization, projectName, false);
  const [project] = await deps.db.select().from(projects).where(eq(projects.projectId, projectId));
  if (!project) throw new SvcError("not_found", `Project ${projectId} not found: it has been deleted.`);
  const found = await findAgentConfig(deps, project);
  if (!found) return new Response(null, { status: 204 });
  return new Response(await packAgentConfig(deps, project, found), {
    headers: { "Content-Type": "application/x-tar", [AGENT_CONFIG_COMMIT]: found.commit },
  });
}
