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
 * Fires a trigger now, whether it is enabled or not: the session is the caller's. Where the account has no place for one
 * it waits, as one that was due would.
 * @param text what `{{ text }}` of the template stands for; a template without that gets it at its end
 * @throws not_found, rate_limited (too many wait), validation_failed (no such session could ever be)
 */
export async function fireByHand(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  slug: string,
  text: string | undefined,
): Promise<Fired> {
  const trigger = await findTrigger(deps.db, project, slug);
  const said = text === undefined ? "" : storable("text", text, PROMPT_MAX_BYTES);
  const now = await deps.databaseTime(deps.db);
  const template =
    said === "" || names(trigger.prompt, "text") ? trigger.prompt : `${trigger.prompt}\n\n{{ text }}`;
  const prompt = render(template, { ...contextOf(project, trigger, { dueAt: now, now }), text: said });
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
      throw new SvcError("not_found", "The trigger was removed in the meantime.");
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
