import { afterAll, beforeAll, describe, expect } from "bun:test";
import { rmSync } from "node:fs";
import postgres from "postgres";
import type { Session } from "../../src/contract/session.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type Api, makeFolder, startApi } from "../helpers/api.ts";
import { type DatabaseLink, linkTo } from "../helpers/database-link.ts";
import { followEvents } from "../helpers/event-stream.ts";
import { startHaltingServer } from "../helpers/halting.ts";
import { openStreams } from "../helpers/many-streams.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";
import { share } from "../helpers/random.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { watchSilentChanges } from "../helpers/silent-changes.ts";
import { StandInProvider } from "../helpers/stand-in-provider.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const STREAMS = share(100, 500);
/** How often the connection of a server ends. */
const CUTS = share(2, 5);
/** Longer than any test, so that events are delivered by notifications only. */
const NEVER_MS = 3_600_000;

let database: TestDatabase;
let link: DatabaseLink;
let writing: SessionBench;
let reading: Api;
let token: string;

class OnlyNotified extends Changes {
  override wait(name: string | readonly string[], _ms: number, signal?: AbortSignal): Promise<void> {
    return super.wait(name, NEVER_MS, signal);
  }
}

/**
 * Two servers on one database: what one writes, the other tells, and only because it was notified. The way of the second
 * to it can be cut.
 */
beforeAll(async () => {
  if (!POSTGRES) return;
  database = await createDatabase();
  link = await linkTo(database.url);
  const env = { SVC_MASTER_KEY: "ab".repeat(32) };
  writing = await startSessions({
    env: { ...env, DATABASE_URL: database.url },
    deps: { eventsPollMs: 100 },
  });
  token = writing.api.token;
  reading = await startApi({
    env: { ...env, DATABASE_URL: link.url },
    deps: {
      sandboxes: new StandInProvider().sandboxesOf,
      changes: new OnlyNotified(),
      eventsPollMs: NEVER_MS,
    },
  });
});
afterAll(async () => {
  if (!POSTGRES) return;
  await reading.stop();
  await writing.stop();
  link.close();
  await database.drop();
});

const follow = (headers: Record<string, string> = {}) =>
  followEvents(reading.url, token, writing.projectId, headers);
const set = (name: string) =>
  writing.api.call("PUT", `/v1/projects/${writing.projectId}/secrets/${name}`, { body: { value: "x" } });

describe("events of two servers on one Postgres", () => {
  test(`${STREAMS} streams of one server receive another server's changes at once`, async () => {
    const streams = openStreams(reading.url, token, writing.projectId, STREAMS);
    try {
      await until("all have begun", () => streams.started() === STREAMS);
      for (let turn = 0; turn < 4; turn++) {
        await set(`MANY_${turn}`);
        await until(`change ${turn} has reached all`, () => streams.receiversOf(`MANY_${turn}`) === STREAMS);
      }
    } finally {
      streams.close();
    }
  });

  test("a server reconnects at once when its LISTEN connection ends, and misses nothing", async () => {
    const stream = await follow();
    const sql = postgres(database.url, { max: 1 });
    const end = () =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'svc-api events' and datname = current_database()`;
    try {
      for (let turn = 0; turn < CUTS; turn++) {
        expect((await end()).length).toBeGreaterThan(0);
        await set(`CUT_${turn}`);
        await stream.waitFor(`CUT_${turn}`, ({ id }) => id === `CUT_${turn}`);
        await until("it listens again", async () => {
          const [row] = await sql`select count(*)::int as n from pg_stat_activity
            where application_name = 'svc-api events' and datname = current_database() and query like 'listen%'`;
          return row?.["n"] === 2;
        });
      }
      const names = stream.events().map(({ id }) => id);
      expect(names).toEqual(Array.from({ length: CUTS }, (_, turn) => `CUT_${turn}`));
    } finally {
      await sql.end({ timeout: 1 });
      await stream.close();
    }
  });

  test("a server that lost the database delivers all events once it is back, once and in order", async () => {
    const stream = await follow();
    try {
      link.cut();
      for (let turn = 0; turn < 10; turn++) await set(`AWAY_${turn}`);
      await until("it has tried to come back", () => link.refused() > 1);
      link.mend();
      await set("BACK");
      await stream.waitFor("the last", ({ id }) => id === "BACK");
      const names = stream.events().map(({ id }) => id);
      expect(names).toEqual([...Array.from({ length: 10 }, (_, turn) => `AWAY_${turn}`), "BACK"]);
    } finally {
      link.mend();
      await stream.close();
    }
  });

  test("a lost notification delays the event until the next poll", async () => {
    const stream = await followEvents(writing.api.url, token, writing.projectId);
    const sql = postgres(database.url, { max: 1 });
    try {
      // like a published event, but without a notification
      await sql.begin(async (tx) => {
        const [head] = await tx`update project_event_heads set seq = seq + 1
          where project_id = ${writing.projectId} returning seq::int`;
        await tx`insert into project_events (project_id, seq, type, subject, action)
          values (${writing.projectId}, ${head?.["seq"]}, 'branch', 'unheard', 'changed')`;
      });
      await stream.waitFor("it", ({ id }) => id === "unheard");
    } finally {
      await sql.end({ timeout: 1 });
      await stream.close();
    }
  });

  test("events of a server that is killed right after its commit are delivered, and its clients resume at another", async () => {
    const dataDir = makeFolder();
    const { remote, projectId } = writing;
    const dying = await startHaltingServer({
      SVC_PORT: "0",
      SVC_DATA_DIR: dataDir,
      SVC_ALLOW_PRIVATE_REPOS: "1",
      SVC_SANDBOX_PROVIDER: "local",
      SVC_LOG_LEVEL: "silent",
      SVC_MASTER_KEY: "ab".repeat(32),
      DATABASE_URL: database.url,
    });
    try {
      const watching = await follow();
      const client = await followEvents(dying.url(), token, projectId);
      remote.commit("killed", { k: "1\n" }, { from: "main" });
      const path = `/v1/projects/${projectId}/change-requests`;
      const { body } = await writing.api.call("POST", path, { body: { title: "t", head_ref: "killed" } });
      await client.waitFor("the change request", ({ id }) => id === body.cr_id);
      const halted = dying.haltAt("merge-recorded");
      const merge = fetch(`${dying.url()}${path}/${body.number}/merge`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}` },
      }).catch(() => null);
      await halted;
      await dying.kill();
      await Promise.all([merge, client.ended]);
      await watching.waitFor("the merge", ({ type, id }) => type === "branch" && id === "main");
      const on = await follow({ "Last-Event-ID": client.lastId() });
      const whole = watching.entries.slice(1);
      await until("it has caught up", () => client.entries.length + on.entries.length - 2 >= whole.length);
      expect([...client.entries.slice(1), ...on.entries.slice(1)]).toEqual(whole);
      await Promise.all([watching.close(), on.close()]);
    } finally {
      await dying.kill();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  test("a session's stream receives what another server does to it", async () => {
    const made = await writing.create();
    await writing.becomes(made.session_id, "running");
    const path = `/v1/projects/${writing.projectId}/sessions/${made.session_id}/events`;
    const response = await fetch(reading.url + path, { headers: { Authorization: `Bearer ${token}` } });
    const reader = response.body?.getReader();
    let text = "";
    const read = (async () => {
      for (let got = await reader?.read(); got && !got.done; got = await reader?.read())
        text += Buffer.from(got.value).toString();
    })();
    for (let turn = 0; turn < 5; turn++) {
      await writing.call("PATCH", `/${made.session_id}`, { body: { name: `name ${turn}` } });
      await until(`name ${turn}`, () => text.includes(`name ${turn}`));
    }
    await reader?.cancel();
    await read;
  });
});

test("changes of sessions, change requests, secrets and projects publish an event in the same transaction", async () => {
  const watched = await watchSilentChanges(database.url);
  const { api, remote, provider } = writing;
  const project = await api.project(remote.url, { name: "watched" });
  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, `/v1/projects/${project.project_id}${path}`, body === undefined ? {} : { body });
  const becomes = async (id: string, ...statuses: Session["status"][]) => {
    const get = async () => (await call("GET", `/sessions/${id}`)).body.status;
    await until(`${id} is ${statuses}`, async () => statuses.includes(await get()));
  };
  const create = async (body = {}) => (await call("POST", "/sessions", body)).body.session_id;
  try {
    const id = await create({ initial_prompt: "go" });
    await becomes(id, "running");
    await call("PATCH", `/sessions/${id}`, { name: "n" });
    await call("POST", `/sessions/${id}/stop`);
    await becomes(id, "stopped");
    await call("POST", `/sessions/${id}/prompt`, { text: "wake up" });
    await becomes(id, "running");
    await call("POST", `/sessions/${id}/restart`, {});
    await until("another sandbox", () => provider.sandboxes.get(id)?.spec.generation === 3);
    await becomes(id, "running");
    provider.sandboxes.get(id)?.die(1);
    writing.look();
    await becomes(id, "failed");
    await call("DELETE", `/sessions/${id}`);
    await becomes(await create({ base_ref: "nowhere" }), "failed");

    remote.commit("told", { t: "1\n" }, { from: "main" });
    await call("POST", "/change-requests", { title: "t", head_ref: "told" });
    await call("PATCH", "/change-requests/1", { description: "d" });
    await call("POST", "/change-requests/1/close");
    await call("POST", "/change-requests/1/reopen");
    remote.commit("told", { t: "2\n" });
    await call("GET", "/change-requests");
    expect((await call("POST", "/change-requests/1/merge")).status).toBe(200);
    await call("PUT", "/secrets/A", { value: "1" });
    await call("PUT", "/secrets/A", { value: "2" });
    await call("DELETE", "/secrets/A");
    await call("PATCH", "", { name: "other" });
    const gone = await create();
    await becomes(gone, "running");
    await call("DELETE", "");
    expect(await watched.silent()).toEqual([]);
  } finally {
    await watched.end();
  }
});
