import { DEFAULT_RUNTIME } from "../../../contract/runtimes.ts";
import type { SessionChoices } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { listAgents } from "../../projects/agents.ts";
import { findSession } from "../read.ts";
import { holderOf } from "../secrets.ts";
import { knownChoices, runtimeFor } from "./known.ts";

/**
 * What the agent of a session can work with: by the running agent, else by the same one in an earlier session, else by
 * what svc knows itself.
 * @throws not_found, validation_failed
 */
export async function readSessionChoices(
  deps: Deps,
  project: ProjectRow,
  name: string,
): Promise<SessionChoices> {
  const { session } = await findSession(deps, project, name);
  const runtime = await runtimeFor(deps, project, session.runtime);
  const {
    gateway,
    agents,
    title: _,
    ...known
  } = await knownChoices(deps, project, runtime, session, holderOf(session));
  const { model, agentName, mode, effort } = session;
  const hasAgents = known.source === "agent" || runtime !== DEFAULT_RUNTIME;
  return {
    ...known,
    current: { model, agent_name: agentName, mode, effort },
    other_models: gateway?.acceptsAny ?? true,
    agents: hasAgents ? agents : await mergedAgents(deps, project),
  };
}

/** Of the default branch; none if the repository does not answer. */
async function mergedAgents(deps: Deps, project: ProjectRow): Promise<SessionChoices["agents"]> {
  const { agents } = await listAgents(deps, project).catch(() => ({ agents: [] }));
  return agents
    .filter(({ mode }) => mode !== "subagent")
    .map(({ name, description }) => ({ name, description }));
}
