import { eq } from "drizzle-orm";
import { triggerFirings, triggers } from "../../db/schema/index.ts";
import type { Deps } from "../deps.ts";
import type { SessionRow } from "./wire.ts";

/** What secrets a session gets: those for all sessions, and those for the trigger that started it. */
export async function audienceOf(
  { db }: Pick<Deps, "db">,
  { sessionId }: Pick<SessionRow, "sessionId">,
): Promise<string[]> {
  const [firing] = await db
    .select({ slug: triggers.slug })
    .from(triggerFirings)
    .innerJoin(triggers, eq(triggers.triggerId, triggerFirings.triggerId))
    .where(eq(triggerFirings.sessionId, sessionId));
  return firing ? ["sessions", `triggers:${firing.slug}`] : ["sessions"];
}
