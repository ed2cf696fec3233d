import { expect } from "bun:test";
import { eq } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { appDeployments, apps } from "../../db/schema/index.ts";
import { readConfig } from "../../src/config.ts";
import { getApp } from "../../src/features/apps/read.ts";
import { entryOf } from "../helpers/apps.ts";
import { insertProject } from "../helpers/event-project.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";

needs("a real Postgres", POSTGRES)("an app and its deployments are read in one snapshot", async () => {
  const own = await createDatabase();
  const { db, close } = await openPostgres(own.url);
  let isOver = false;
  let changing: Promise<void> | null = null;
  try {
    const projectId = await insertProject(db);
    const same = { entry: entryOf(), entryHash: "hash", commit: "0".repeat(40) };
    const [app] = await db
      .insert(apps)
      .values({ ...same, projectId, slug: "web", label: "web--p", presence: "enabled" })
      .returning();
    const deploymentId = "ses_1";
    const appId = app?.appId ?? "";
    await db
      .insert(appDeployments)
      .values({ ...same, deploymentId, appId, number: 1, state: "failed", reason: "created" });
    const change = async () => {
      for (let turn = 0; !isOver; turn++) {
        const ends =
          turn % 2 === 0
            ? ({ state: "failed", error: "why" } as const)
            : ({ state: "retired", error: null } as const);
        await db.update(appDeployments).set(ends).where(eq(appDeployments.deploymentId, deploymentId));
      }
    };
    changing = change();
    const deps = { db, config: readConfig({}), api: () => ({ hostname: "127.0.0.1", port: 4000 }) };
    const seen = new Set<string | null>();
    for (let turn = 0; turn < 500; turn++) {
      const told = await getApp(deps, { projectId }, "web");
      expect(told.app.error).toBe(told.deployments[0]?.error ?? null);
      seen.add(told.app.error);
    }
    expect([...seen].toSorted()).toEqual([null, "why"].toSorted());
  } finally {
    isOver = true;
    await changing;
    await close();
    await own.drop();
  }
});
