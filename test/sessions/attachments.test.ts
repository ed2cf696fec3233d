import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { type Database, openPostgres } from "../../db/client.ts";
import { promptAttachments } from "../../db/schema/index.ts";
import { ATTACHMENTS_MAX_BYTES, BODY_MAX_BYTES } from "../../src/contract/limits.ts";
import { attached, PNG } from "../helpers/attachments.ts";
import { followedSession, hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;
let database: Database;
let runtimeOf: (sessionId: string) => RuntimeHost;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: "30", SVC_IDLE_TIMEOUT: "3600" } });
  database = await openPostgres(bench.api.databaseUrl ?? "");
  runtimeOf = hostRuntimes(bench.provider);
});
afterAll(async () => {
  await database.close();
  await bench.stop();
});
afterEach(() => {
  bench.provider.onPrompt = () => ({ state: "answered", error: null });
});

const post = (id: string, body: object) => bench.call("POST", `/${id}/prompt`, { body });
const SHOT = { name: "shot.png", type: "image/png", size: PNG.length };

async function running(): Promise<string> {
  const { session_id: id } = await bench.create();
  await bench.becomes(id, "running");
  return id;
}

async function ended(id: string): Promise<void> {
  await until("the prompts have ended", async () => {
    const { prompts } = (await bench.call("GET", `/${id}/prompts`)).body;
    return prompts.every(({ ended_at }: { ended_at: string | null }) => ended_at !== null);
  });
}

/** The attachments whose content the server has. */
async function kept(id: string): Promise<number> {
  return await database.db.$count(promptAttachments, eq(promptAttachments.sessionId, id));
}

test("the first prompt of a session has attachments, too, and so has that of each of several tries", async () => {
  const files = [attached("shot.png", PNG)];
  const { session_id: id } = await bench.create({ initial_prompt: "Look", attachments: files });
  await ended(id);
  expect(bench.provider.sandboxes.get(id)?.prompts[0]?.attachments).toEqual([
    { name: "shot.png", type: "image/png", data: PNG.toString("base64") },
  ]);
  const { body } = await bench.api.call("POST", `/v1/projects/${bench.projectId}/tries`, {
    body: { initial_prompt: "Look", count: 2, attachments: files },
  });
  for (const { session } of body.tries)
    expect((await bench.call("GET", `/${session.session_id}/prompts`)).body.prompts[0].attachments).toEqual([
      SHOT,
    ]);
  for (const [bad, path] of [
    [{ attachments: files }, "initial_prompt"],
    [{ initial_prompt: "Look", attachments: [attached("a.bin", "\0")] }, "attachments.0"],
  ] as const)
    expect(await bench.call("POST", "", { body: bad })).toMatchObject({
      status: 400,
      body: { details: [{ path }] },
    });
});

test("attachments reach the sandbox with the prompt, and only names, types and sizes stay", async () => {
  const id = await running();
  const asked = { text: "Look", attachments: [attached("a/shot.png", PNG), attached("b.exe", "Hi\n")] };
  const { status, body } = await post(id, asked);
  const shown = [SHOT, { name: "b.exe", type: "text/plain", size: 3 }];
  expect([status, body.prompt.attachments]).toEqual([202, shown]);
  await ended(id);
  const [given] = bench.provider.sandboxes.get(id)?.prompts ?? [];
  expect(given?.attachments).toEqual([
    { name: "shot.png", type: "image/png", data: PNG.toString("base64") },
    { name: "b.exe", type: "text/plain", data: Buffer.from("Hi\n").toString("base64") },
  ]);
  expect(await kept(id)).toBe(0);
  expect((await bench.call("GET", `/${id}/prompts`)).body.prompts[0].attachments).toEqual(shown);
});

test("those of queued prompts are kept until they are withdrawn, or their sandbox ends", async () => {
  const id = await running();
  bench.provider.onPrompt = () => ({ state: "running", error: null });
  await post(id, { text: "first", attachments: [attached("a.png", PNG)] });
  const second = await post(id, { text: "second", attachments: [attached("b.png", PNG)] });
  await until("the first runs", () => (bench.provider.sandboxes.get(id)?.prompts.length ?? 0) > 0);
  expect(await kept(id)).toBe(2);
  expect((await bench.call("DELETE", `/${id}/prompts/${second.body.prompt.prompt_id}`)).status).toBe(200);
  expect(await kept(id)).toBe(1);
  await bench.call("POST", `/${id}/stop`);
  await bench.becomes(id, "stopped");
  await ended(id);
  expect(await kept(id)).toBe(0);
});

test("a retry with the same attachments returns the same prompt; other attachments make another prompt", async () => {
  const id = await running();
  const body = { text: "Look", prompt_id: crypto.randomUUID(), attachments: [attached("shot.png", PNG)] };
  const numbers = [await post(id, body), await post(id, body)].map((answer) => answer.body.prompt.number);
  expect(numbers).toEqual([1, 1]);
  expect(await post(id, { ...body, attachments: [] })).toMatchObject({
    status: 409,
    body: { code: "prompt_exists" },
  });
});

const REFUSED: [what: string, attachments: object[], words: string][] = [
  ["a program", [attached("a.png", "\x7fELF\x00")], "attachments.0: a.png cannot be attached"],
  ["what is not base64", [{ name: "a.txt", data: "a b c" }], "attachments.0: a.txt must be in base64"],
  [
    "more than fits",
    [attached("a.txt", "a".repeat(ATTACHMENTS_MAX_BYTES)), attached("b.txt", "b")],
    "attachments: must have at most 3145728 bytes together, and have 3145729",
  ],
  ["too many", Array(6).fill(attached("a.txt", "a")), "attachments"],
  ["one without a name", [attached("", "a")], "attachments.0.name"],
];

test(`${REFUSED.map(([what]) => what).join(", ")} is refused`, async () => {
  const { session_id: id } = await bench.create();
  for (const [what, attachments, words] of REFUSED) {
    const { status, body } = await post(id, { text: "Look", attachments });
    expect([what, status, body.code]).toEqual([what, 400, "validation_failed"]);
    expect(body.error).toContain(words);
  }
});

test("the largest attachments fit, only where a prompt is sent, and only so many wait", async () => {
  const id = await running();
  bench.provider.onPrompt = () => ({ state: "running", error: null });
  const attachments = [attached("a.txt", "a".repeat(ATTACHMENTS_MAX_BYTES))];
  const statuses: number[] = [];
  for (let count = 0; count < 4; count++) statuses.push((await post(id, { text: "x", attachments })).status);
  expect(statuses).toEqual([202, 202, 202, 202]);
  // four of them have 16 MiB in base64
  expect(await post(id, { text: "x", attachments: [attached("b.txt", "b")] })).toMatchObject({
    status: 429,
    body: { code: "prompt_queue_full", error: expect.stringContaining("attachments") },
  });
  const large = { text: "x".repeat(BODY_MAX_BYTES) };
  expect((await bench.call("POST", `/${id}/answer`, { body: large })).status).toBe(413);
});

test("the stored conversation shows what was attached, without its content", async () => {
  const { id, runtime } = await followedSession(bench, runtimeOf);
  runtime.message({ id: "msg_1", role: "user" });
  runtime.part("msg_1", { id: "prt_1", type: "text", text: "Look" });
  const url = `data:image/png;base64,${"A".repeat(4 * 1024 * 1024)}`;
  runtime.part("msg_1", { id: "prt_2", type: "file", mime: "image/png", filename: "../shot\u202e.png", url });
  runtime.part("msg_1", { id: "prt_3", type: "file", mime: "image/png", url });
  runtime.part("msg_1", { id: "prt_4", type: "text", text: "the end" });
  let text = "";
  await until("they are stored", async () => {
    ({ text } = await bench.call("GET", `/${id}/conversation`));
    return text.includes("the end");
  });
  expect(JSON.parse(text).turns[0].parts).toMatchObject([
    { kind: "prompt", text: "Look", file: null },
    { kind: "file", text: "", state: "done", file: { name: "shot.png", type: "image/png", size: 3 << 20 } },
    { kind: "prompt", text: "the end" },
  ]);
  expect(text.length).toBeLessThan(5_000);
  expect(runtime.reads).toHaveLength(1);
});
