import { and, asc, eq, inArray, isNotNull, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { promptAttachments, sessionPrompts } from "../../../../db/schema/index.ts";
import {
  ATTACHMENTS_ACCEPTED,
  type AttachedFile,
  type Attachment,
  attachmentType,
  fileName,
} from "../../../contract/attachment.ts";
import { SvcError } from "../../../contract/errors.ts";
import { ATTACHMENTS_MAX_BYTES } from "../../../contract/limits.ts";
import type { CreatePromptBody } from "../../../contract/prompt.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import type { PromptRow } from "./wire.ts";

/** What the queued prompts of a session have attached together, in base64. */
const QUEUED_MAX_BYTES = 16 * 1024 * 1024;

/** A checked file of a request. */
export interface NewAttachment extends Attachment {
  size: number;
}

/** Finds what a prompt mentions, to send it with the prompt. */
export type ReferencesIn = (project: ProjectRow, text: string) => Promise<NewAttachment[]>;

/** @throws validation_failed for what is not base64, too large together, or of another type */
export function readAttachments(given: NonNullable<CreatePromptBody["attachments"]>): NewAttachment[] {
  const files = given.map(({ name, data }, at) => {
    const bytes = Buffer.from(data, "base64");
    if (bytes.toString("base64") !== data) throw invalid(at, `${fileName(name)} must be in base64`);
    const type = attachmentType(bytes);
    if (type === null)
      throw invalid(at, `${fileName(name)} cannot be attached: svc accepts ${ATTACHMENTS_ACCEPTED}`);
    return { name: fileName(name), type, size: bytes.length, data };
  });
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size <= ATTACHMENTS_MAX_BYTES) return files;
  throw invalid(
    null,
    `must have at most ${ATTACHMENTS_MAX_BYTES} bytes together, and have ${size}. Commit larger files to the branch`,
  );
}

/** What is kept of it for good. */
export const metadataOf = ({ name, type, size }: NewAttachment): AttachedFile => ({ name, type, size });

/** Stores the content until the prompt has ended. @throws prompt_queue_full */
export async function addAttachments(
  tx: Db,
  { sessionId, promptId }: Pick<PromptRow, "sessionId" | "promptId">,
  files: readonly NewAttachment[],
): Promise<void> {
  if (files.length === 0) return;
  const rows = files.map(({ name, type, data }, position) => ({
    sessionId,
    promptId,
    position,
    name,
    type,
    data,
  }));
  await tx.insert(promptAttachments).values(rows);
  const [sum] = await tx
    .select({ size: sql<number>`sum(octet_length(${promptAttachments.data}))::int` })
    .from(promptAttachments)
    .where(eq(promptAttachments.sessionId, sessionId));
  if ((sum?.size ?? 0) <= QUEUED_MAX_BYTES) return;
  throw new SvcError(
    "prompt_queue_full",
    `The session's queued prompts have too large attachments together: the limit is ${QUEUED_MAX_BYTES} bytes in base64. Try again when some are answered, or withdraw one: svc sessions prompts ${sessionId}`,
    { limit: QUEUED_MAX_BYTES },
    { "Retry-After": "60" },
  );
}

/** The attachments of a prompt that has not ended. */
export async function openAttachments(
  db: Db,
  { sessionId, promptId, attachments }: PromptRow,
): Promise<Attachment[]> {
  if (attachments.length === 0) return [];
  const { name, type, data, position } = promptAttachments;
  return await db
    .select({ name, type, data })
    .from(promptAttachments)
    .where(and(eq(promptAttachments.sessionId, sessionId), eq(promptAttachments.promptId, promptId)))
    .orderBy(asc(position));
}

/** Removes the content of those of a session's prompts that have ended: the agent has them. */
export async function dropAttachments(tx: Db, sessionId: string): Promise<void> {
  const ended = tx
    .select({ promptId: sessionPrompts.promptId })
    .from(sessionPrompts)
    .where(and(eq(sessionPrompts.sessionId, sessionId), isNotNull(sessionPrompts.endedAt)));
  await tx
    .delete(promptAttachments)
    .where(and(eq(promptAttachments.sessionId, sessionId), inArray(promptAttachments.promptId, ended)));
}

function invalid(at: number | null, message: string): SvcError {
  const path = at === null ? "attachments" : `attachments.${at}`;
  return new SvcError("validation_failed", `${path}: ${message}.`, { details: [{ path, message }] });
}
