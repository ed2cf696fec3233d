import { and, eq } from "drizzle-orm";
import { sessionPrompts } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Prompt } from "../../../contract/prompt.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { dropAttachments } from "./attachments.ts";
import { findPrompt } from "./read.ts";
import { promptToWire } from "./wire.ts";

/** Withdraws a queued prompt. @throws prompt_not_queued, not_found, validation_failed */
export async function withdrawPrompt(
  deps: Deps,
  project: ProjectRow,
  name: string,
  promptId: string,
): Promise<{ prompt: Prompt }> {
  const { sessionId, ...found } = await findPrompt(deps, project, name, promptId);
  const [row] = await deps.db
    .update(sessionPrompts)
    .set({ state: "aborted", error: WITHDRAWN, endedAt: deps.clock() })
    .where(
      and(
        eq(sessionPrompts.sessionId, sessionId),
        eq(sessionPrompts.promptId, found.promptId),
        eq(sessionPrompts.state, "queued"),
      ),
    )
    .returning();
  if (row) {
    await dropAttachments(deps.db, sessionId);
    deps.changes.notify(sessionId);
    return { prompt: await promptToWire(deps.db, row) };
  }
  const now = await findPrompt(deps, project, name, promptId);
  throw new SvcError(
    "prompt_not_queued",
    now.endedAt === null
      ? `The agent is answering this prompt. To interrupt it: svc sessions abort ${sessionId}`
      : "The prompt has ended.",
    { status: now.state },
  );
}

const WITHDRAWN = "Withdrawn before the agent received it.";
