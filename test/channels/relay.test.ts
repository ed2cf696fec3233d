import { expect } from "bun:test";
import postgres from "postgres";
import { GENERAL, newTs, OWNER, startChannels } from "../helpers/channels.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);

test("a prompt whose session stopped with its server is read again as soon as one that runs", async () => {
  let stopped: Date | null = null;
  const bench = await startChannels({
    env: { SVC_SESSION_CAP: "1" },
    deps: { databaseTime: async () => stopped ?? new Date() },
  });
  const sql = postgres(bench.api.databaseUrl ?? "", { max: 1, onnotice() {} });
  try {
    await bench.connect();
    bench.isWorking = true;
    const ts = await bench.mention("first");
    await bench.said(ts, "Working…");
    const reply = { type: "message", channel: GENERAL, user: OWNER, thread_ts: ts };
    await bench.send({ ...reply, ts: newTs(), text: "second" });
    await bench.said(ts, "Waiting for the agent…");
    const [{ session_id: id }] = (await bench.call("GET", "/sessions")).body.sessions;
    await bench.call("POST", `/sessions/${id}/stop`);
    await bench.said(ts, "Waiting: the session is stopped.");
    // the account's only slot is taken, so that the session is not started again
    expect((await bench.call("POST", "/sessions", { body: {} })).status).toBe(201);
    await sql`update runs set stop_reason = 'server' where run_id = ${id}`;
    const now = new Date(Date.now() + 60_000);
    stopped = now;
    // wakes the worker
    await bench.mention("");
    const due = async () => {
      const [task] =
        await sql`select due_at from channel_tasks where session_id = ${id} and due_at is not null`;
      return task?.["due_at"];
    };
    await until("it is due in two seconds", async () =>
      Bun.deepEquals(await due(), new Date(now.getTime() + 2_000)),
    );
  } finally {
    await sql.end({ timeout: 1 });
    await bench.stop();
  }
});
