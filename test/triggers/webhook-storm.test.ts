import { expect } from "bun:test";
import postgres from "postgres";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";
import { signatureOf, startTriggers, webhook } from "../helpers/triggers.ts";

const test = needs("a real Postgres", POSTGRES);
const SECRET = "s";
const [SENT, AT_ONCE, CAP] = [1_100, 300, 2];

test("in a burst of webhooks each accepted one is recorded, the rest is refused, and the cap holds", async () => {
  const database = await createDatabase();
  const db = postgres(database.url, { max: 1, onnotice() {} });
  const env = { DATABASE_URL: database.url, SVC_SESSION_CAP: String(CAP) };
  const svc = await startTriggers("2026-03-01T12:00:00Z", { env });
  try {
    await svc.api.call("PUT", `/v1/projects/${svc.projectId}/secrets/HOOK_SECRET`, {
      body: { value: SECRET },
    });
    await svc.have(webhook("hook", "{{ body.n }}"));
    const taken = new Set<string>();
    const others: number[] = [];
    let next = 0;
    const sender = async () => {
      while (next < SENT) {
        const raw = JSON.stringify({ n: next++ });
        const headers = { "X-Svc-Signature": signatureOf(SECRET, raw) };
        const path = `/v1/webhooks/projects/${svc.projectId}/hook`;
        const answer = await svc.api.call("POST", path, { token: null, raw, headers });
        if (answer.status === 202) taken.add(answer.body.session_id);
        else {
          others.push(answer.status);
          expect(answer.headers.get("retry-after")).not.toBeNull();
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sender));
    expect(new Set(others)).toEqual(new Set([429]));
    expect(taken.size + others.length).toBe(SENT);
    const rows = await db`select session_id from trigger_firings`;
    expect(new Set(rows.map((row) => String(row["session_id"])))).toEqual(taken);
    const [up] = await db`select count(*)::int as count from project_sessions
      where status in ('provisioning', 'running')`;
    expect(up?.["count"]).toBeLessThanOrEqual(CAP);
  } finally {
    await svc.stop();
    await db.end({ timeout: 1 });
    await database.drop();
  }
});
