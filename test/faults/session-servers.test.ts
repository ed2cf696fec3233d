import { expect } from "bun:test";
import { startApi } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";
import { share } from "../helpers/random.ts";
import { startSessions } from "../helpers/sessions.ts";
import { StandInProvider } from "../helpers/stand-in-provider.ts";

const test = needs("a real Postgres", POSTGRES);
const CAP = share(8, 20);

test("a session that was stopped on one server can be started on another, and is reachable only there", async () => {
  const database = await createDatabase();
  const env = { DATABASE_URL: database.url, SVC_MASTER_KEY: "ab".repeat(32) };
  const one = await startSessions({ env });
  const provider = new StandInProvider();
  const two = await startApi({ env, deps: { sandboxes: provider.sandboxesOf } });
  try {
    const { session_id: id } = await one.create();
    await one.becomes(id, "running");
    const visit = (api: typeof two) =>
      api.call("GET", `/v1/p/${id}/8000/svc/health`, { token: one.api.token });
    expect((await visit(one.api)).status).toBe(200);
    const elsewhere = await visit(two);
    expect([elsewhere.status, elsewhere.body.code]).toEqual([502, "sandbox_unreachable"]);

    await one.call("POST", `/${id}/stop`);
    await one.becomes(id, "stopped");
    const path = `/v1/projects/${one.projectId}/sessions/${id}`;
    expect((await two.call("POST", `${path}/restart`, { token: one.api.token })).status).toBe(202);
    await one.becomes(id, "running");
    expect(provider.sandboxes.has(id)).toBe(true);
    expect((await visit(two)).status).toBe(200);
    // any server accepts the request; the one with the sandbox ends it
    await one.call("POST", `/${id}/stop`);
    await one.becomes(id, "stopped");
    expect(provider.sandboxes.has(id)).toBe(false);
  } finally {
    await one.stop();
    await two.stop();
    await database.drop();
  }
});

test(`of ${2 * CAP} concurrent creations at two servers with a cap of ${CAP}, exactly ${CAP} succeed, and a freed slot is used again`, async () => {
  const database = await createDatabase();
  const env = {
    DATABASE_URL: database.url,
    SVC_MASTER_KEY: "ab".repeat(32),
    SVC_SESSION_CAP: `5,selfhost=${CAP}`,
  };
  const one = await startSessions({ env });
  const provider = new StandInProvider();
  const two = await startApi({ env, deps: { sandboxes: provider.sandboxesOf } });
  const path = `/v1/projects/${one.projectId}/sessions`;
  try {
    const race = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) =>
          (index % 2 === 0 ? one.api : two).call("POST", path, { body: {}, token: one.api.token }),
        ),
      );
    const answers = await race(2 * CAP);
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.session_id);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(made.length).toBe(CAP);
    for (const { status, body, headers } of refused) {
      expect(status).toBe(429);
      expect(body).toMatchObject({ code: "concurrent_session_limit", limit: CAP, active_sessions: CAP });
      expect(headers.get("retry-after")).toBe("60");
    }
    for (const id of made) await one.becomes(id, "running");
    // each server has those that it took in
    expect(one.provider.sandboxes.size + provider.sandboxes.size).toBe(CAP);

    const [stopped = "", deleted = "", ...others] = made;
    await one.call("POST", `/${stopped}/stop`);
    await one.becomes(stopped, "stopped");
    expect((await one.call("DELETE", `/${deleted}`)).status).toBe(200);
    const again = await race(10);
    expect(again.filter(({ status }) => status === 201).length).toBe(2);
    // one that runs may be restarted at the cap; one that was stopped may not
    expect((await one.call("POST", `/${others[0]}/restart`)).status).toBe(202);
    expect((await one.call("POST", `/${stopped}/restart`)).body.code).toBe("concurrent_session_limit");
  } finally {
    await one.stop();
    await two.stop();
    await database.drop();
  }
});
