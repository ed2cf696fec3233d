import { expect } from "bun:test";
import postgres from "postgres";
import { Changes } from "../../src/lib/changes.ts";
import { startChannels } from "../helpers/channels.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);

test("a question of a session that was stopped meanwhile is answered in its thread, which follows the agent", async () => {
  const changes = new Changes();
  const bench = await startChannels({ deps: { changes } });
  await bench.connect();
  bench.isWorking = true;
  bench.asks = [
    {
      ...{ id: "que_1", sessionID: "ses_one" },
      questions: [
        {
          ...{ question: "Which db?", multiple: false },
          options: ["Postgres", "SQLite"].map((label) => ({ label, description: "" })),
        },
      ],
    },
  ];
  const ts = await bench.mention("choose");
  const message = await bench.said(ts, "Which db?");
  // as the server stores what an agent waits for, which the stand-in of this test does not report
  const sql = postgres(bench.api.databaseUrl ?? "", { max: 1, onnotice() {} });
  const question = {
    question: "Which db?",
    options: [{ label: "Postgres" }, { label: "SQLite" }],
    multiple: false,
  };
  const request = { request_id: "que_1", kind: "question", kept: false, patterns: [], questions: [question] };
  await sql`update project_sessions set activity = 'waiting', activity_at = now() - interval '51 minutes',
    waiting_for = ${sql.json(request)}`;
  await until("the session is stopped", async () => {
    changes.notify("sessions");
    const [row] = await sql`select status from project_sessions`;
    return row?.["status"] === "stopped";
  });
  bench.asks = [];
  bench.isWorking = false;
  await bench.said(ts, "Stopped until the question is answered.");
  expect(await bench.click(message, "svc_answer_1")).toBe(200);
  await bench.said(ts, /I did: .*The answer: SQLite/s);
  await bench.said(ts, /^Done\./);
  expect(bench.slack.thread(ts).filter(({ text }) => text.includes("was not answered"))).toEqual([]);
  await sql.end({ timeout: 1 });
  await bench.stop();
});
