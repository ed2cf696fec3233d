import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { and, eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { projectSessions, sessionPrompts } from "../../../../db/schema/index.ts";
import type { AttachedFile } from "../../../contract/attachment.ts";
import { SvcError } from "../../../contract/errors.ts";
import { PROMPT_MAX_BYTES } from "../../../contract/limits.ts";
import { type CreatePromptBody, PROMPTS_QUEUED_MAX, type Prompt } from "../../../contract/prompt.ts";
import type { Deps } from "../../../deps.ts";
import { storable } from "../../../http/text.ts";
import { actorOf } from "../../../identity/auth/actor.ts";
import { audit } from "../../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { queueOf } from "../../../jobs/places.ts";
import { nextPlaceOf } from "../../runs/goal.ts";
import { dropKept } from "../kept/keep.ts";
import { readSessionId, unknownSession } from "../read.ts";
import { startAgain } from "../restart.ts";
import { lockSession, type SessionRow } from "../row.ts";
import { firstWords, recordTitle } from "../title.ts";
import { addPrompt } from "./add.ts";
import { metadataOf, type NewAttachment, readAttachments } from "./attachments.ts";
import { countOpen } from "./open.ts";
import { type PromptRow, promptToWire } from "./wire.ts";

/**
 * Queues a prompt for a session. A session that is stopped, or stopping, is started again for it; if the account's cap
 * does not allow that, the prompt is refused. A request with the same id, text and attachments returns the same prompt.
 * @param references what the text mentions, which is sent with it
 * @throws concurrent_session_limit, prompt_exists, prompt_queue_full, session_failed, not_found, validation_failed
 */
export async function acceptPrompt(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  body: CreatePromptBody,
  references: readonly NewAttachment[] = [],
): Promise<{ prompt: Prompt }> {
  const sessionId = readSessionId(name);
  const text = storable("text", body.text, PROMPT_MAX_BYTES);
  const promptId = (body.prompt_id ?? randomUUID()).toLowerCase();
  const given = readAttachments(body.attachments ?? []);
  const attachments = [...given, ...references];
  const by = { userId: caller.userId, actor: actorOf(caller) };
  const row = await deps.db.transaction(async (tx) => {
    const session = await lockSession(tx, sessionId);
    if (session?.projectId !== project.projectId || session.goal === "deleted")
      throw unknownSession(sessionId);
    const [known] = await tx
      .select()
      .from(sessionPrompts)
      .where(and(eq(sessionPrompts.sessionId, sessionId), eq(sessionPrompts.promptId, promptId)));
    if (known?.text === text && haveSameFiles(known.attachments, given, references)) return known;
    if (known)
      throw new SvcError(
        "prompt_exists",
        `Another prompt with the id ${promptId} already exists in the session. Send this one with another id.`,
      );
    const target = session.name ?? sessionId;
    const details = { prompt_id: promptId, characters: text.length };
    await audit(tx, caller, { action: "session.prompted", target, targetId: sessionId, project, details });
    const added = await queuePrompt(deps, tx, session, { promptId, text, attachments, by });
    await recordTitle(tx, session, { of: "promptTitle", text: firstWords(text) });
    return added;
  });
  deps.changes.notify(sessionId);
  return { prompt: await promptToWire(deps.db, row) };
}

/**
 * Adds a prompt to the queue of a session, and starts it again if it is stopped. What the agent asked in a sandbox that has
 * ended is settled by it.
 * @param tx has the session locked
 * @throws concurrent_session_limit, prompt_queue_full, session_failed, not_found
 */
export async function queuePrompt(
  deps: Deps,
  tx: Db,
  session: SessionRow,
  prompt: Omit<Parameters<typeof addPrompt>[2], "at">,
): Promise<PromptRow> {
  const { sessionId } = session;
  await requireCapacity(tx, session);
  const at = deps.clock();
  const added = await addPrompt(tx, sessionId, { ...prompt, at });
  const place = isStopping(session) ? await nextPlaceOf(deps, tx, session) : session.place;
  await deps.jobs.enqueue(tx, queueOf("prompts", place), sessionId);
  if (session.keptRequest) await dropKept(tx, sessionId, at);
  await wake(deps, tx, session);
  return added;
}

/** Whether a known prompt was sent with these attachments. The text of what it mentions may have changed since. */
function haveSameFiles(
  known: readonly AttachedFile[],
  given: readonly NewAttachment[],
  references: readonly NewAttachment[],
): boolean {
  const isSame = isDeepStrictEqual(known.slice(0, given.length), given.map(metadataOf));
  return isSame && known.length === given.length + references.length;
}

/** @throws session_failed, prompt_queue_full */
async function requireCapacity(tx: Db, { sessionId, status }: SessionRow): Promise<void> {
  if (status === "failed")
    throw new SvcError(
      "session_failed",
      `The session has failed. Restart it first: svc sessions restart ${sessionId}`,
      { status },
    );
  if ((await countOpen(tx, sessionId)) < PROMPTS_QUEUED_MAX) return;
  throw new SvcError(
    "prompt_queue_full",
    `The session's queue is full: ${PROMPTS_QUEUED_MAX} prompts. Try again when some are answered, or withdraw one: svc sessions prompts ${sessionId}`,
    { limit: PROMPTS_QUEUED_MAX },
    { "Retry-After": "60" },
  );
}

function isStopping({ goal, status }: SessionRow): boolean {
  return goal === "stopped" || status === "stopped";
}

/** @throws concurrent_session_limit, not_found */
async function wake(deps: Deps, tx: Db, session: SessionRow): Promise<void> {
  if (isStopping(session)) {
    if (!(await startAgain(deps, tx, session))) throw unknownSession(session.sessionId);
    return;
  }
  const used = { lastActiveAt: deps.clock() };
  await tx.update(projectSessions).set(used).where(eq(projectSessions.sessionId, session.sessionId));
}
