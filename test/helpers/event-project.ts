import type { Db } from "../../db/client.ts";
import { accounts, projects } from "../../db/schema/index.ts";
import { publish } from "../../src/events/publish.ts";

/** Makes a project in the database alone, as a writer of events would find it. */
export async function insertProject(db: Db): Promise<string> {
  const slug = `p${crypto.randomUUID().slice(0, 8)}`;
  const [account] = await db.insert(accounts).values({ name: "a", slug }).returning();
  const accountId = account?.accountId ?? "";
  const [project] = await db
    .insert(projects)
    .values({ accountId, name: "p", slug, defaultBranch: "main" })
    .returning();
  const projectId = project?.projectId ?? "";
  await db.transaction((tx) => publish(tx, projectId, { type: "project", id: projectId, action: "created" }));
  return projectId;
}
