import type { AgentChoice } from "../../../contract/daemon.ts";
import type { Deps } from "../../../deps.ts";
import { sendChoice } from "../../../sandboxes/daemon.ts";
import { reachSession, type SessionRow } from "../row.ts";
import { noteChoices, runtimeFor } from "./known.ts";

/** What a session's agent works with. */
export function choiceOf({ model, agentName, mode, effort }: SessionRow): AgentChoice {
  return { model, agent: agentName, mode, effort };
}

/**
 * Sends a session's choice to its running sandbox, for prompts of clients that talk to the runtime themselves: svc's own
 * prompts carry it. Then notes what the agent offers, for the project's later sessions.
 * @throws when the sandbox did not accept it: the job is retried
 */
export async function pushChoice(deps: Deps, sessionId: string): Promise<void> {
  const reached = await reachSession(deps, sessionId);
  if (!reached?.daemon || reached.session.status !== "running") return;
  const { daemon, session, project } = reached;
  if (!(await sendChoice(daemon, choiceOf(session))))
    throw new Error("a running sandbox did not accept its choice");
  const runtime = await runtimeFor(deps, project, session.runtime);
  await noteChoices(deps, { ...project, runtime }, session, daemon);
}
