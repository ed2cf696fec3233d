import { afterAll, beforeAll, describe, expect } from "bun:test";
import { eq } from "drizzle-orm";
import { type Database, openPostgres } from "../../db/client.ts";
import { runs, sessionSandboxes } from "../../db/schema/index.ts";
import { readServerId } from "../../src/data-folder.ts";
import type { SessionStep } from "../../src/deps.ts";
import { linkTo } from "../helpers/database-link.ts";
import { needs } from "../helpers/needs.ts";
import { startOther } from "../helpers/other-server.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";
import { isGone, setServer, silence } from "../helpers/servers.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const onLinux = needs("a real Postgres", POSTGRES && process.platform === "linux");
const KEY = "cd".repeat(32);
const LOST = /not sent a heartbeat since .* svc sessions restart/;

describe("a server with real sandboxes", () => {
  let lost: SessionServer;
  let database: Database;
  beforeAll(async () => {
    if (!POSTGRES) return;
    lost = await startSessionServer({ SVC_MASTER_KEY: KEY, SVC_SESSION_CAP: "4" });
    database = await openPostgres(lost.databaseUrl);
  });
  afterAll(async () => {
    await database?.close();
    await lost?.stop();
  });

  /** A session that runs, if there is none yet. */
  async function running(): Promise<string> {
    const [first] = (await lost.call("GET", "")).body.sessions;
    const { session_id: id } = first ?? (await lost.create());
    await lost.becomes(id, "running");
    return id;
  }

  onLinux("the only server has its sessions back after a week of downtime", async () => {
    const id = await running();
    const before = lost.processes(id).map(({ pid }) => pid);
    await lost.kill();
    const week = 7 * 86_400;
    await setServer(database.db, readServerId(lost.dataDir), { seen: week, steady: 2 * week });
    await lost.start();
    // another that was off as long does not judge what it did not see
    const other = await startOther(lost, { SVC_MASTER_KEY: KEY });
    await setServer(database.db, readServerId(lost.dataDir), { seen: week });
    for (let look = 0; look < 5; look++) await other.provider.untilLooked(other.look);
    await other.stop();
    expect(await isGone(database.db, readServerId(lost.dataDir))).toBe(false);
    expect(await lost.get(id)).toMatchObject({ status: "running", error: null });
    expect(lost.processes(id).map(({ pid }) => pid)).toEqual(before);
    await setServer(database.db, readServerId(lost.dataDir), { seen: 0 });
  });

  onLinux(
    "another server takes over the sessions of a killed one, which removes its remains once it is back",
    async () => {
      const other = await startOther(lost, { SVC_MASTER_KEY: KEY, SVC_SESSION_CAP: "4" });
      try {
        const left = await running();
        const made = await Promise.all([lost.create(), lost.create(), lost.create()]);
        const [restarted = "", deleted = "", stopped = ""] = made.map(({ session_id }) => session_id);
        const ids = [left, restarted, deleted, stopped];
        for (const id of ids) await lost.becomes(id, "running");
        await lost.kill();
        // a silent server is not gone: requests wait for it
        expect((await other.call("POST", `/${stopped}/stop`)).body.status).toBe("running");
        expect((await other.call("POST", "")).body.code).toBe("concurrent_session_limit");

        await silence(database.db, { of: lost.dataDir, watchedFrom: other.api.dataDir });
        other.look();
        expect((await other.becomes(left, "failed")).error).toMatch(LOST);
        expect((await other.call("POST", `/${restarted}/restart`)).status).toBe(202);
        await other.becomes(restarted, "running");
        expect((await other.call("DELETE", `/${deleted}`)).body).toEqual({ ok: true });
        await until("it is stopped", async () => (await rowOf(database, stopped))?.status === "stopped");
        // their places are free again
        expect((await other.call("POST", "")).status).toBe(201);
        for (const id of ids) expect(lost.processes(id).length).toBeGreaterThan(0);

        await lost.start();
        for (const id of ids) {
          await until(
            () => `nothing is left of ${id}: ${lost.folders()}`,
            () => lost.processes(id).length === 0 && !lost.folders().includes(id),
          );
        }
        expect(await isGone(database.db, readServerId(lost.dataDir))).toBe(false);
        expect(await lost.get(left)).toMatchObject({ status: "failed", sandbox_status: "error" });
        expect(await lost.get(stopped)).toMatchObject({ status: "stopped", stop_reason: "user" });
        expect(await lost.get(restarted)).toMatchObject({ status: "running", error: null });
        expect(other.provider.stopped).not.toContain(restarted);
        const seen = await other.api.call("GET", `/v1/p/${restarted}/8000/svc/health`, { token: lost.token });
        expect(seen.status).toBe(200);
        // it takes sessions as before
        await lost.call("POST", `/${left}/restart`);
        await lost.becomes(left, "running");
      } finally {
        await other.stop();
      }
    },
  );
});

test("a server that was cut off from the database continues a start that it has lost, without effect", async () => {
  const made = await createDatabase();
  const database = await openPostgres(made.url);
  const link = await linkTo(made.url);
  const env = { DATABASE_URL: link.url, SVC_MASTER_KEY: KEY };
  const go = Promise.withResolvers<void>();
  const branched = Promise.withResolvers<void>();
  let haltsAt: SessionStep | null = null;
  const lost = await startSessions({
    env,
    deps: {
      async checkpoint(step) {
        if (step !== haltsAt) return;
        haltsAt = null;
        branched.resolve();
        await go.promise;
      },
    },
  });
  const known = {
    databaseUrl: made.url,
    path: `/v1/projects/${lost.projectId}/sessions`,
    token: lost.api.token,
  };
  const other = await startOther(known, { SVC_MASTER_KEY: KEY });
  try {
    const { session_id: running } = await lost.create();
    const { session_id: moved } = await lost.create();
    for (const id of [running, moved]) await lost.becomes(id, "running");
    haltsAt = "branch-created";
    const { session_id: early } = await lost.create();
    await branched.promise;
    const halted = Promise.withResolvers<void>();
    lost.provider.onStart = () => {
      halted.resolve();
      return go.promise;
    };
    const { session_id: starting } = await lost.create();
    await halted.promise;
    link.cut();

    await silence(database.db, { of: lost.api.dataDir, watchedFrom: other.api.dataDir });
    // a claim ends twelve seconds after it was renewed
    await until("all are taken over", async () => {
      other.look();
      const rows = await Promise.all([running, moved, early, starting].map((id) => rowOf(database, id)));
      return rows.every((row) => row?.status === "failed" && LOST.test(row.error ?? ""));
    });
    for (const id of [moved, early, starting]) {
      expect((await other.call("POST", `/${id}/restart`)).status).toBe(202);
      await other.becomes(id, "running");
    }
    expect([...lost.provider.sandboxes.keys()].sort()).toEqual([running, moved].sort());
    const keys = await keysOf(database);

    link.mend();
    go.resolve();
    await until(
      () => `nothing is left of them: ${[...lost.provider.sandboxes.keys()]}`,
      () => {
        lost.look();
        return lost.provider.sandboxes.size === 0 && lost.provider.starts === 3;
      },
    );
    expect((await lost.get(running)).error).toMatch(LOST);
    for (const id of [moved, early, starting]) {
      expect(await lost.get(id)).toMatchObject({ status: "running", error: null });
      const seen = await other.api.call("GET", `/v1/p/${id}/8000/svc/health`, { token: lost.api.token });
      expect(seen.status).toBe(200);
    }
    expect(await keysOf(database)).toEqual(keys);
    expect(other.provider.stopped).toEqual([]);
  } finally {
    link.mend();
    await lost.stop();
    await other.stop();
    link.close();
    await database.close();
    await made.drop();
  }
});

async function rowOf({ db }: Database, id: string) {
  const [row] = await db.select().from(runs).where(eq(runs.runId, id));
  return row ?? null;
}

/** What opens each session's sandbox, and where it listens. */
async function keysOf({ db }: Database) {
  return await db.select().from(sessionSandboxes).orderBy(sessionSandboxes.runId);
}
