import { expect } from "bun:test";
import { availableParallelism } from "node:os";
import { SANDBOXES } from "../helpers/isolation.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { share } from "../helpers/random.ts";
import { startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const isHere = POSTGRES && SANDBOXES[1];
// local sandboxes run dist/svc-agent
const test = needs(POSTGRES ? SANDBOXES[0] : "a real Postgres", isHere);

/** Sessions that are created at once. */
const MANY = share(7, 40);

test("sessions that are created at once all run, however busy the machine is, and say at which place they wait", async () => {
  const server = await startSessionServer({ SVC_SESSION_CAP: String(MANY) });
  try {
    const made = await Promise.all(Array.from({ length: MANY }, () => server.create()));
    expect(await server.call("POST", "", {})).toMatchObject({
      status: 429,
      body: { code: "concurrent_session_limit", limit: MANY, active_sessions: MANY },
    });
    const ids = made.map(({ session_id }) => session_id);
    await until("all have started", async () => {
      const { sessions } = (await server.call("GET", "?limit=200")).body;
      return sessions.every(({ status }: { status: string }) => status !== "provisioning");
    });
    const sessions = await Promise.all(ids.map((id) => server.get(id)));
    expect(sessions.map((session) => [session?.status, session?.error])).toEqual(
      Array(MANY).fill(["running", null]),
    );
    const logs = await Promise.all(ids.map(async (id) => (await server.call("GET", `/${id}/logs`)).text));
    const places = logs.flatMap(
      (log) => /place (\d+) of \d+ in the queue of this server/.exec(log)?.[1] ?? [],
    );
    // two for each processor start at once
    if (MANY > 2 * availableParallelism() + 2) expect(places.length).toBeGreaterThan(0);
  } finally {
    await server.stop();
  }
});
