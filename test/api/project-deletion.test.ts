import { afterAll, beforeAll, expect } from "bun:test";
import { sql } from "drizzle-orm";
import { type Database, openPostgres } from "../../db/client.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES, untilBlocked } from "../helpers/postgres.ts";
import { Remote } from "../helpers/remote.ts";

const test = needs("a real Postgres", POSTGRES);

let api: Api;
let remote: Remote;
let database: Database;

beforeAll(async () => {
  if (!POSTGRES) return;
  api = await startApi();
  remote = new Remote();
  remote.commit("main", { a: "1\n" });
  database = await openPostgres(api.databaseUrl ?? "");
});
afterAll(async () => {
  await database?.close();
  await api?.stop();
  remote?.remove();
});

test("a project is deleted although its deletion deadlocks with other work on the project", async () => {
  const { project_id } = await api.project(remote.url);
  const secrets = `/v1/projects/${project_id}/secrets`;
  expect((await api.call("PUT", `${secrets}/KEY`, { body: { value: "1" } })).status).toBe(200);
  let deletion: ReturnType<Api["call"]> | undefined;
  await database.db.transaction(async (tx) => {
    // never the one that detects the deadlock, and is ended
    await tx.execute(sql`set local deadlock_timeout = '1h'`);
    await tx.execute(sql`select 1 from project_secrets where project_id = ${project_id} for update`);
    deletion = api.call("DELETE", `/v1/projects/${project_id}`);
    await untilBlocked(database.db);
    await tx.execute(sql`select 1 from projects where project_id = ${project_id} for key share`);
  });
  expect(await deletion).toMatchObject({ status: 200, body: { ok: true } });
  expect((await api.call("GET", `/v1/projects/${project_id}`)).status).toBe(404);
});
