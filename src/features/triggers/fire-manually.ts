import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { isForeignKeyViolation } from "../../../db/errors.ts";
import { triggerFirings } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { PROMPT_MAX_BYTES } from "../../contract/limits.ts";
import type { Fired } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import { storable } from "../../http/text.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { contextOf } from "./due.ts";
import { fire } from "./fire.ts";
import { addFiring } from "./firing.ts";
import { findTrigger } from "./row.ts";
import { names, render } from "./template.ts";

/**
 * Fires a trigger now, even a disabled one. The session belongs to the caller. If the account's session cap is reached,
 * the firing waits, as a scheduled one does.
 * @param text the value of `{{ text }}` in the template; it is appended to a template without that
 * @throws not_found, rate_limited (too many firings wait), validation_failed (the session cannot be created)
 */
export async function fireManually(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  slug: string,
  text: string | undefined,
): Promise<Fired> {
  const trigger = await findTrigger(deps.db, project, slug);
  const input = text === undefined ? "" : storable("text", text, PROMPT_MAX_BYTES);
  const now = await deps.databaseTime(deps.db);
  const template =
    input === "" || names(trigger.prompt, "text") ? trigger.prompt : `${trigger.prompt}\n\n{{ text }}`;
  const prompt = render(template, { ...contextOf(project, trigger, { dueAt: now, now }), text: input });
  const sessionId = randomUUID();
  const firing = {
    key: `manual ${sessionId}`,
    source: "manual",
    createdBy: caller.userId,
    sessionId,
    prompt,
  } as const;
  let seq: number;
  try {
    ({ seq } = await addFiring(deps.db, trigger, project, { ...firing, now }));
  } catch (error) {
    if (isForeignKeyViolation(error))
      throw new SvcError(
        "not_found",
        "The trigger was removed while this request ran. List triggers with: svc triggers ls",
      );
    throw error;
  }
  const outcome = await fire(deps, { seq, triggerId: trigger.triggerId });
  const [row] = await deps.db.select().from(triggerFirings).where(eq(triggerFirings.seq, seq));
  if (row?.state === "failed")
    throw new SvcError("validation_failed", row.error ?? "The trigger could not fire.");
  return {
    status: outcome === "fired" || row?.state === "fired" ? "fired" : "waiting",
    session_id: sessionId,
  };
}
