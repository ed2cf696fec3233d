import { expect } from "bun:test";
import { eq } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { runs } from "../../db/schema/index.ts";
import { startApi } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";
import { Remote } from "../helpers/remote.ts";
import { insertSession } from "../helpers/session-row.ts";

const test = needs("a real Postgres", POSTGRES);

test("a change request names the session that opened it until the session is deleted", async () => {
  const { url, drop } = await createDatabase();
  const api = await startApi({ env: { DATABASE_URL: url } });
  const { db, close } = await openPostgres(url);
  const remote = new Remote();
  try {
    remote.commit("main", { a: "1\n" });
    remote.commit("work", { a: "2\n" }, { from: "main" });
    const [mine, other] = [await api.project(remote.url), await api.project(remote.url)];
    const { user_id } = (await api.call("GET", "/v1/accounts/me")).body;
    const begin = async (project: { project_id: string; account_id: string }) => {
      const sessionId = crypto.randomUUID();
      const { project_id: projectId, account_id: accountId } = project;
      await insertSession(db, { sessionId, projectId, accountId, createdBy: user_id });
      return sessionId;
    };
    const path = `/v1/projects/${mine.project_id}`;
    let opened = 0;
    const open = async (session_id: string) => {
      const head_ref = `work-${++opened}`;
      remote.branch(head_ref, "work");
      const { status, body } = await api.call("POST", `${path}/change-requests`, {
        body: { title: "t", head_ref, session_id },
      });
      expect(status).toBe(201);
      return body.origin_session_id;
    };
    const session = await begin(mine);
    expect(await open(session)).toBe(session);
    // Another project's session is as unknown as one that never was.
    expect(await open(await begin(other))).toBeNull();
    expect(await open("never was")).toBeNull();
    expect(await open("a\0b")).toBeNull();

    const minted = await api.call("POST", `${path}/cli-token`, { body: { session_id: session } });
    expect([minted.status, minted.body.session_id]).toEqual([201, session]);
    const unknown = await api.call("POST", `${path}/cli-token`, { body: { session_id: "never was" } });
    expect(unknown.status).toBe(404);
    const whoami = () => api.call("GET", "/v1/auth/whoami", { token: minted.body.token });
    expect((await whoami()).body).toMatchObject({ kind: "project", session_id: session });

    await db.delete(runs).where(eq(runs.runId, session));
    expect(
      (await api.call("GET", `${path}/change-requests/1`)).body.change_request.origin_session_id,
    ).toBeNull();
    expect((await whoami()).status).toBe(401);
  } finally {
    await close();
    await api.stop();
    await drop();
    remote.remove();
  }
});
