import { eq } from "drizzle-orm";
import type { Database, Db } from "../../db/client.ts";
import { accounts, projectSessions, projects, runs, users } from "../../db/schema/index.ts";
import { openDatabase } from "./postgres.ts";

type NewSession = typeof projectSessions.$inferInsert;
/** The columns of a run that the test sets. */
export type RunValues = Partial<typeof runs.$inferInsert>;

/** Inserts a session with its run, as the product would. */
export async function insertSession(
  db: Db,
  values: Omit<NewSession, "branchName" | "baseRef" | "status"> & Partial<NewSession>,
  run: RunValues = {},
): Promise<void> {
  const { sessionId, projectId, accountId, status = "running" } = values;
  await db.insert(runs).values({
    ...{ runId: sessionId, kind: "session", projectId, accountId, status },
    ...{ provider: "local", place: "" },
    ...run,
  });
  await db.insert(projectSessions).values({ branchName: sessionId, baseRef: "main", ...values, status });
}

/** Changes a session's run, and its status with it. */
export async function changeRun(db: Db, sessionId: string, values: RunValues): Promise<void> {
  await db.update(runs).set(values).where(eq(runs.runId, sessionId));
  const { status } = values;
  if (status)
    await db.update(projectSessions).set({ status }).where(eq(projectSessions.sessionId, sessionId));
}

/** A separate database with a session that is being provisioned and its user, for tests of the rows only. */
export async function openSessionRow(): Promise<{ database: Database; sessionId: string; userId: string }> {
  const database = await openDatabase();
  const { db } = database;
  const sessionId = crypto.randomUUID();
  const [user] = await db.insert(users).values({ email: "a@b.c", name: "a" }).returning();
  const [account] = await db.insert(accounts).values({ name: "a", slug: "a" }).returning();
  const accountId = account?.accountId ?? "";
  const userId = user?.userId ?? "";
  const [project] = await db
    .insert(projects)
    .values({ accountId, name: "p", slug: "p", defaultBranch: "main" })
    .returning();
  const projectId = project?.projectId ?? "";
  await insertSession(db, { sessionId, projectId, accountId, createdBy: userId, status: "provisioning" });
  return { database, sessionId, userId };
}
