import { expect } from "bun:test";
import type { Prompt } from "../../src/contract/prompt.ts";
import { startApi } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";
import { startSessions } from "../helpers/sessions.ts";
import { StandInProvider } from "../helpers/stand-in-provider.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const [PROMPTS, CLIENTS] = [30, 10];

test("prompts of ten clients at two servers are answered in the order of acceptance, each once", async () => {
  const database = await createDatabase();
  const env = { DATABASE_URL: database.url, SVC_MASTER_KEY: "ab".repeat(32) };
  const one = await startSessions({ env });
  const two = await startApi({ env, deps: { sandboxes: new StandInProvider().sandboxesOf } });
  try {
    const { session_id: id } = await one.create();
    const path = `/v1/projects/${one.projectId}/sessions/${id}/prompt`;
    let [now, most] = [0, 0];
    one.provider.onPrompt = async () => {
      most = Math.max(most, ++now);
      await Bun.sleep(5);
      now--;
      return { state: "answered", error: null };
    };
    const client = async (number: number): Promise<Prompt[]> => {
      const taken: Prompt[] = [];
      for (let turn = 0; turn < PROMPTS / CLIENTS; turn++) {
        const body = { text: `${number}.${turn}`, prompt_id: crypto.randomUUID() };
        // every third prompt is sent twice, to both servers
        const servers = turn % 3 === 0 ? [one.api, two] : [number % 2 === 0 ? one.api : two];
        const answers = await Promise.all(
          servers.map((server) => server.call("POST", path, { body, token: one.api.token })),
        );
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
        expect(new Set(answers.map(({ body: { prompt } }) => prompt.number)).size).toBe(1);
        taken.push(answers[0]?.body.prompt);
      }
      return taken;
    };
    const each = await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
    for (const taken of each)
      expect(taken).toEqual(taken.toSorted((before, after) => before.number - after.number));
    const inOrder = each.flat().toSorted((before, after) => before.number - after.number);
    expect(inOrder.map(({ number }) => number)).toEqual(Array.from({ length: PROMPTS }, (_, at) => at + 1));
    const given = () => one.provider.sandboxes.get(id)?.prompts ?? [];
    await until("all were given", () => given().length === PROMPTS);
    await until("all are answered", async () => {
      const { body } = await two.call("GET", `${path}s?limit=200`, { token: one.api.token });
      return body.prompts.every(({ state }: Prompt) => state === "answered");
    });
    expect(given().map(({ text }) => text)).toEqual(inOrder.map(({ text }) => text));
    expect(most).toBe(1);
  } finally {
    await one.stop();
    await two.stop();
    await database.drop();
  }
});
