import { eq, sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { projects } from "../../db/schema/index.ts";

/** The title of a change request, by its number. */
export const titleOf = (number: number): string => `Change number ${number}`;

/**
 * Gives a project open change requests, numbered from 1, and stopped sessions, all by one user.
 * @throws Error if the project is not found
 */
export async function fillLists(
  db: Db,
  projectId: string,
  { email, changeRequests, sessions }: { email: string; changeRequests: number; sessions: number },
): Promise<void> {
  const [project] = await db.select().from(projects).where(eq(projects.projectId, projectId));
  if (!project) throw new Error("the project is not found");
  const { accountId } = project;
  const user = sql`(select user_id from users where email = ${email})`;
  const common = sql`${accountId}::uuid, ${projectId}::uuid`;
  await db.execute(sql`insert into change_requests
      (account_id, project_id, number, title, base_ref, head_ref, created_by, created_at, updated_at)
    select ${common}, n, 'Change number ' || n, 'main', 'work-' || n, ${user}, at, at
    from generate_series(1, ${changeRequests}::int) n,
      lateral (select date_trunc('second', now()) - n * interval '1 minute' as at) t`);
  const rows = sql`from generate_series(1, ${sessions}::int) n,
    lateral (select md5(n::text || ${projectId})::uuid::text as id, date_trunc('second', now()) - n * interval '1 minute' as at) t`;
  await db.execute(sql`insert into runs (run_id, kind, account_id, project_id, provider, place, status, goal)
    select id, 'session', ${common}, 'local', '', 'stopped', 'stopped' ${rows}`);
  await db.execute(sql`insert into project_sessions
      (session_id, account_id, project_id, branch_name, base_ref, name, status, created_by, last_active_at, updated_at)
    select id, ${common}, id, 'main', 'Session number ' || n, 'stopped', ${user}, at, at ${rows}`);
}
