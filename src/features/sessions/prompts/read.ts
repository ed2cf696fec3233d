import { and, desc, eq, lt } from "drizzle-orm";
import { sessionPrompts } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import { UUID } from "../../../contract/id.ts";
import type { Prompt } from "../../../contract/prompt.ts";
import type { Deps } from "../../../deps.ts";
import { NUMBER_CURSOR, type Page, page, readCursor } from "../../../http/page.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { findSession } from "../read.ts";
import { type PromptRow, promptsToWire, promptToWire } from "./wire.ts";

/** A session's prompts, the newest first. @throws not_found, validation_failed */
export async function listPrompts(
  deps: Deps,
  project: ProjectRow,
  name: string,
  { limit, cursor }: Page,
): Promise<{ prompts: Prompt[]; next_cursor?: string }> {
  const { session } = await findSession(deps, project, name);
  const before = readCursor(cursor, NUMBER_CURSOR);
  const found = await deps.db
    .select()
    .from(sessionPrompts)
    .where(
      and(
        eq(sessionPrompts.sessionId, session.sessionId),
        before === null ? undefined : lt(sessionPrompts.number, Number(before)),
      ),
    )
    .orderBy(desc(sessionPrompts.number))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, ({ number }) => String(number));
  return { prompts: await promptsToWire(deps.db, rows), ...next };
}

/** @throws not_found, validation_failed */
export async function getPrompt(
  deps: Deps,
  project: ProjectRow,
  name: string,
  promptId: string,
): Promise<{ prompt: Prompt }> {
  return { prompt: await promptToWire(deps.db, await findPrompt(deps, project, name, promptId)) };
}

/** One prompt of a session of the project. @throws not_found, validation_failed */
export async function findPrompt(
  deps: Deps,
  project: ProjectRow,
  name: string,
  promptId: string,
): Promise<PromptRow> {
  const { session } = await findSession(deps, project, name);
  if (!UUID.test(promptId))
    throw new SvcError(
      "validation_failed",
      `The prompt id must be a UUID. List prompts with: svc sessions prompts ${session.sessionId}`,
    );
  const [row] = await deps.db
    .select()
    .from(sessionPrompts)
    .where(
      and(
        eq(sessionPrompts.sessionId, session.sessionId),
        eq(sessionPrompts.promptId, promptId.toLowerCase()),
      ),
    );
  if (row) return row;
  throw new SvcError(
    "not_found",
    `Prompt ${promptId} not found in this session. List prompts with: svc sessions prompts ${session.sessionId}`,
  );
}
