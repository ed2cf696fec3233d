import type { Database } from "../../db/client.ts";
import { accounts, projectSessions, projects, users } from "../../db/schema/index.ts";
import { openDatabase } from "./postgres.ts";

/** A database of its own with a session that is being provisioned, and its user: for what is asked of the rows alone. */
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
  await db.insert(projectSessions).values({
    sessionId,
    projectId: project?.projectId ?? "",
    accountId,
    branchName: sessionId,
    baseRef: "main",
    status: "provisioning",
    createdBy: userId,
  });
  return { database, sessionId, userId };
}
