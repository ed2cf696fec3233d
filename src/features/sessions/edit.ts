import { and, eq } from "drizzle-orm";
import { projectSessions } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { EditSessionBody, Session } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { storable } from "../../http/text.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { queueOf } from "../../jobs/places.ts";
import { knownChoices, runtimeFor } from "./choices/known.ts";
import { effortsOf, requireEffort, requireMode, requireModel } from "./choices/require.ts";
import { findSession, getSession } from "./read.ts";
import { requireAgent } from "./require-agent.ts";
import type { SessionRow } from "./row.ts";
import { holderOf } from "./secrets.ts";

/**
 * Renames a session, and changes what its agent works with from the next prompt on.
 * @throws not_found, validation_failed, forbidden
 */
export async function editSession(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  sessionId: string,
  { name, ...choice }: EditSessionBody,
): Promise<Session> {
  const { session } = await findSession(deps, project, sessionId);
  const { sessionId: id, place } = session;
  const chosen = await chosenOf(deps, caller, project, session, choice);
  const changes = {
    ...chosen,
    ...(name !== undefined && { name: storable("name", name, NAME_MAX * 4) }),
  };
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(projectSessions)
      .set({ ...changes, updatedAt: deps.clock() })
      .where(and(eq(projectSessions.sessionId, id), eq(projectSessions.projectId, project.projectId)))
      .returning({ id: projectSessions.sessionId });
    if (!row) return;
    const entry = { action: "session.edited", target: session.name ?? id, targetId: id } as const;
    await audit(tx, caller, { ...entry, project, details: changes });
    if (Object.keys(chosen).length > 0) await deps.jobs.enqueue(tx, queueOf("choices", place), id);
    await publish(tx, project.projectId, { type: "session", id, action: "changed" });
  });
  deps.changes.notify(id);
  return await getSession(deps, project, id);
}

type Chosen = Partial<Pick<SessionRow, "model" | "agentName" | "mode" | "effort">>;

async function chosenOf(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  session: SessionRow,
  { model, agent_name, mode, effort }: Omit<EditSessionBody, "name">,
): Promise<Chosen> {
  const chosen: Chosen = {};
  if ([model, agent_name, mode, effort].every((each) => each === undefined)) return chosen;
  if (mode !== undefined && caller.kind === "project" && caller.sessionId !== null)
    throw new SvcError(
      "forbidden",
      "An agent cannot change what agents may do without asking. Ask a person to.",
    );
  const runtime = await runtimeFor(deps, project, session.runtime);
  const known = await knownChoices(deps, project, runtime, session, holderOf(session));
  if (agent_name !== undefined) {
    if (agent_name !== null) await requireAgent(deps, project, agent_name, runtime);
    chosen.agentName = agent_name;
  }
  if (model !== undefined) chosen.model = storable("model", requireModel(known, model), NAME_MAX * 4);
  if (mode !== undefined) {
    requireMode(known, mode);
    chosen.mode = mode;
  }
  const current = chosen.model ?? session.model;
  if (effort !== undefined) {
    if (effort !== null) requireEffort(known, current, effort);
    chosen.effort = effort;
  } else if (session.effort !== null && effortsOf(known, current)?.includes(session.effort) === false) {
    // it is that of the model before
    chosen.effort = null;
  }
  return chosen;
}
