import { randomBytes } from "node:crypto";
import pino from "pino";
import type { Database } from "../../db/client.ts";
import { accountMembers, accounts, projects, runs, users } from "../../db/schema/index.ts";
import type { Role } from "../../src/contract/account.ts";
import type { SessionStatus } from "../../src/contract/session.ts";
import { mintToken } from "../../src/identity/auth/token.ts";
import { createKeys } from "../../src/keys.ts";
import { openDatabase } from "./postgres.ts";
import { insertSession } from "./session-row.ts";

/** Users, accounts and projects in a database of their own, without a server: for what is asked of the rows alone. */
export type AccountRows = Awaited<ReturnType<typeof openAccountRows>>;

export async function openAccountRows() {
  const database: Database = await openDatabase();
  const { db } = database;
  const keys = createKeys(randomBytes(32));
  let now = new Date("2026-03-01T12:00:00Z");
  const deps = { db, keys, log: pino({ level: "silent" }), clock: () => now };
  return {
    database,
    deps,
    now: () => now,
    pass(ms: number) {
      now = new Date(now.getTime() + ms);
    },
    async user(name: string): Promise<string> {
      const [row] = await db
        .insert(users)
        .values({ email: `${name}@example.com`, name })
        .returning();
      return there(row).userId;
    },
    async account(slug: string, members: Record<string, Role>): Promise<string> {
      const { accountId } = there((await db.insert(accounts).values({ name: slug, slug }).returning())[0]);
      for (const [userId, role] of Object.entries(members))
        await db.insert(accountMembers).values({ accountId, userId, role });
      return accountId;
    },
    async project(accountId: string, slug: string): Promise<string> {
      const values = { accountId, name: slug, slug, defaultBranch: "main" };
      return there((await db.insert(projects).values(values).returning())[0]).projectId;
    },
    async session(
      { projectId, accountId, userId }: { projectId: string; accountId: string; userId: string },
      more: { status?: SessionStatus; isDeployment?: boolean } = {},
    ): Promise<{ sessionId: string; branch: string }> {
      const sessionId = crypto.randomUUID();
      const branch = `s-${sessionId}`;
      const { status = "running", isDeployment = false } = more;
      const values = { projectId, accountId, status };
      if (isDeployment)
        await db
          .insert(runs)
          .values({ ...values, runId: sessionId, kind: "deployment", provider: "local", place: "" });
      else await insertSession(db, { ...values, sessionId, branchName: branch, createdBy: userId });
      return { sessionId, branch };
    },
    token: async (wanted: Omit<Parameters<typeof mintToken>[2], "name">) =>
      (await mintToken(db, keys, { name: "t", ...wanted })).secret,
  };
}

/** The result of an insert. */
export function there<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error("no row was returned");
  return row;
}
