import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { isForeignKeyViolation } from "../../../db/errors.ts";
import type { Actor } from "../../../db/schema/actor.ts";
import { projectSessions } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { NAME_MAX, PROMPT_MAX_BYTES } from "../../contract/limits.ts";
import { DEFAULT_MODE, PERMISSION_MODES, type PermissionMode } from "../../contract/runtimes.ts";
import type { CreateSessionBody, Session } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { type ProjectChange, publish } from "../../events/publish.ts";
import { checkBranchName } from "../../git/refs.ts";
import { storable } from "../../http/text.ts";
import { actorOf } from "../../identity/auth/actor.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { addRun } from "../runs/goal.ts";
import { enforceSessionCap } from "./cap.ts";
import { requireChoice } from "./choices/new.ts";
import { sessionRuns } from "./kind.ts";
import { addPrompt } from "./prompts/add.ts";
import { type NewAttachment, readAttachments } from "./prompts/attachments.ts";
import type { SessionRow } from "./row.ts";
import { holderFor } from "./secrets.ts";
import { firstWords } from "./title.ts";
import { allToWire } from "./wire.ts";

/** The row of a session to add, and the provider of its sandbox. */
export type NewSession = typeof projectSessions.$inferInsert & Pick<SessionRow, "provider">;

/** Creates a session. @throws as `createSessions` */
export async function createSession(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  body: CreateSessionBody,
  references: readonly NewAttachment[] = [],
): Promise<Session> {
  const [session] = await createSessions(deps, caller, project, [body], { references, triesId: null });
  if (!session) throw new Error("no session was created");
  return session;
}

/**
 * Creates sessions and enqueues their starts, in one transaction that also enforces the account's cap: all or none.
 * @param references what the first prompts mention, which is sent with them
 * @throws concurrent_session_limit, session_exists, validation_failed, invalid_ref.
 */
export async function createSessions(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  bodies: readonly CreateSessionBody[],
  { references, triesId }: { references: readonly NewAttachment[]; triesId: string | null },
): Promise<Session[]> {
  const by = { userId: caller.userId, actor: actorOf(caller) };
  const parent = await parentOf(deps, caller);
  const getsOwnSecrets = (await holderFor(deps.db, caller)) !== null;
  const sessions: { session: NewSession; files: NewAttachment[] }[] = [];
  for (const body of bodies) {
    const session = { ...newSession(deps, by, project, body), getsOwnSecrets };
    const choice = await requireChoice(deps, project, session, body);
    const mode = modeFor(body.mode, parent);
    sessions.push({
      session: { ...session, ...choice, mode, secretNames: parent?.secretNames ?? null, triesId },
      files: [...filesOf(body), ...references],
    });
  }
  try {
    const rows = await deps.db.transaction(async (tx) => {
      const added: SessionRow[] = [];
      for (const { session, files } of sessions)
        added.push(await addSession(deps, tx, session, files, caller));
      await publish(tx, project.projectId, ...added.map(sessionCreated));
      return added;
    });
    return await allToWire(
      deps,
      rows.map((session) => ({ session, sandbox: null, spent: null })),
    );
  } catch (error) {
    if (isForeignKeyViolation(error))
      throw new SvcError(
        "not_found",
        "The project was deleted while this request ran. List yours with: svc projects ls",
      );
    throw error;
  }
}

/** @throws validation_failed */
function filesOf({ attachments = [], initial_prompt }: CreateSessionBody): NewAttachment[] {
  if (attachments.length > 0 && initial_prompt === undefined)
    throw new SvcError(
      "validation_failed",
      "Attachments are sent with the first prompt: set initial_prompt.",
      {
        details: [{ path: "initial_prompt", message: "is required with attachments" }],
      },
    );
  return readAttachments(attachments);
}

/** The session whose agent starts another one, which gets no more secrets and may do no more without asking. */
async function parentOf(
  { db }: Deps,
  caller: Caller,
): Promise<Pick<SessionRow, "secretNames" | "mode"> | null> {
  if (caller.kind === "user" || caller.sessionId === null) return null;
  const [parent] = await db
    .select({ secretNames: projectSessions.secretNames, mode: projectSessions.mode })
    .from(projectSessions)
    .where(eq(projectSessions.sessionId, caller.sessionId));
  return parent ?? null;
}

/** @throws forbidden if an agent's session may do more than the agent */
function modeFor(mode: PermissionMode | undefined, parent: Pick<SessionRow, "mode"> | null): PermissionMode {
  const most = parent?.mode ?? DEFAULT_MODE;
  if (PERMISSION_MODES.indexOf(mode ?? most) <= PERMISSION_MODES.indexOf(most)) return mode ?? most;
  throw new SvcError(
    "forbidden",
    `The agent of a session in the mode ${most} cannot start one in the mode ${mode}. Choose ${most}, or leave mode out.`,
  );
}

/**
 * The row of a new session. It does not check that the agent exists (`requireAgent`).
 * @throws validation_failed, invalid_ref
 */
export function newSession(
  deps: Deps,
  by: { userId: string; actor: Actor | null },
  project: ProjectRow,
  body: CreateSessionBody,
): NewSession {
  const sessionId = (body.session_id ?? randomUUID()).toLowerCase();
  const provider = body.provider ?? deps.sandboxes.defaultName;
  if (!deps.sandboxes.get(provider)) {
    const known = deps.sandboxes.all().map(({ name }) => name);
    throw new SvcError(
      "validation_failed",
      `The sandbox provider "${provider}" is not available on this server. Available: ${known.join(", ")}.`,
      { details: [{ path: "provider", message: "is not available on this server" }] },
    );
  }
  const now = deps.clock();
  return {
    sessionId,
    projectId: project.projectId,
    accountId: project.accountId,
    branchName: sessionId,
    baseRef: checkBranchName(body.base_ref ?? project.defaultBranch),
    name: text("name", body.name),
    agentName: text("agent_name", body.agent_name),
    model: text("model", body.model),
    effort: body.effort ?? null,
    promptTitle: body.initial_prompt === undefined ? null : firstWords(body.initial_prompt),
    runtime: body.runtime ?? null,
    initialPrompt: text("initial_prompt", body.initial_prompt, PROMPT_MAX_BYTES),
    provider,
    status: "provisioning",
    createdBy: by.userId,
    createdActor: by.actor,
    createdAt: now,
    updatedAt: now,
    lastActiveAt: now,
  };
}

/**
 * Inserts a session, enforces the account's cap and enqueues its start, in the caller's transaction. The caller
 * publishes the session as the last statement: `sessionCreated`.
 * @param caller who created it, for the audit log; by default the user and actor of the row
 * @throws concurrent_session_limit, session_exists
 */
export async function addSession(
  deps: Deps,
  tx: Db,
  { provider, ...values }: NewSession,
  attachments: readonly NewAttachment[] = [],
  caller?: Caller,
): Promise<SessionRow> {
  await enforceSessionCap(deps, tx, values.accountId);
  const run = await addRun(deps, tx, sessionRuns, { ...values, runId: values.sessionId, provider });
  if (!run)
    throw new SvcError(
      "session_exists",
      `A session with the id ${values.sessionId} already exists. Choose another session_id, or leave it out.`,
    );
  const [session] = await tx.insert(projectSessions).values(values).returning();
  if (!session) throw new Error("the insert of a session returned no row");
  const { sessionId, initialPrompt: text, createdBy: userId, createdActor: actor, createdAt: at } = session;
  if (text !== null)
    await addPrompt(tx, sessionId, { promptId: sessionId, text, attachments, by: { userId, actor }, at });
  await audit(tx, caller ?? { userId, actor }, {
    action: "session.created",
    target: session.name ?? sessionId,
    targetId: sessionId,
    project: session,
    details: { base_ref: session.baseRef, provider, has_prompt: text !== null },
  });
  return { ...run, ...session };
}

export const sessionCreated = ({ sessionId }: SessionRow): ProjectChange => ({
  type: "session",
  id: sessionId,
  action: "created",
});

function text(field: string, value: string | undefined, maxBytes = NAME_MAX * 4): string | null {
  return value === undefined ? null : storable(field, value, maxBytes);
}
