import { and, eq, sql } from "drizzle-orm";
import { projectSessions } from "../../../../db/schema/index.ts";
import type { PERMISSION_REPLIES, WaitingFor } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";

/**
 * Takes the permission that a person gave after the sandbox that asked for it had ended, if the agent now asks for exactly
 * the same: once.
 */
export async function takeGranted(
  { db }: Pick<Deps, "db">,
  sessionId: string,
  { permission, patterns }: WaitingFor,
): Promise<(typeof PERMISSION_REPLIES)[number] | null> {
  const granted = projectSessions.grantedRequest;
  const [found] = await db
    .select({ granted })
    .from(projectSessions)
    .where(
      and(
        eq(projectSessions.sessionId, sessionId),
        sql`${granted} @> ${JSON.stringify({ permission })}::jsonb and ${granted}->'patterns' = ${JSON.stringify(patterns)}::jsonb`,
      ),
    );
  if (!found?.granted) return null;
  const taken = await db
    .update(projectSessions)
    .set({ grantedRequest: null })
    .where(and(eq(projectSessions.sessionId, sessionId), eq(granted, found.granted)))
    .returning({ id: projectSessions.sessionId });
  return taken.length > 0 ? found.granted.reply : null;
}
