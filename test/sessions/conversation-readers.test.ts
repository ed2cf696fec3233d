import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPostgres } from "../../db/client.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { messageEndOf } from "../../src/contract/prompt-message.ts";
import { readEvents } from "../../src/contract/sse.ts";
import type { ConversationPage, ConversationStreamEvent, Turn, TurnPart } from "../../src/contract/turn.ts";
import { answersTo } from "../../src/features/sessions/conversation/read.ts";
import { recapOf } from "../../src/features/sessions/conversation/recap.ts";
import { followedSession, hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;
let runtimeOf: (sessionId: string) => RuntimeHost;
beforeAll(async () => {
  bench = await startSessions();
  runtimeOf = hostRuntimes(bench.provider);
});
afterAll(() => bench.stop());

const followed = () => followedSession(bench, runtimeOf);

/** A prompt with an answer that has nothing yet: `msg_<name>a`. */
function ask(runtime: RuntimeHost, name: string): void {
  runtime.message({ id: `msg_${name}`, role: "user" });
  runtime.part(`msg_${name}`, { id: `prt_${name}p`, type: "text", text: "Go" });
  runtime.message({ id: `msg_${name}a`, role: "assistant", parentID: `msg_${name}` });
}

async function read(id: string, query = ""): Promise<ConversationPage> {
  return (await bench.call("GET", `/${id}/conversation${query}`)).body;
}

/** Waits for the parts of the conversation. */
async function parts(id: string, isRight: (parts: TurnPart[]) => boolean, query = ""): Promise<TurnPart[]> {
  let found: TurnPart[] = [];
  await until(
    () => `the parts are right, and not ${JSON.stringify(found)}`,
    async () => {
      found = (await read(id, query)).turns.flatMap((turn) => turn.parts);
      return isRight(found);
    },
  );
  return found;
}

/** The events of a stream until one that is wanted. */
async function stream(
  id: string,
  after: string,
  isLast: (event: ConversationStreamEvent) => boolean,
): Promise<ConversationStreamEvent[]> {
  const path = `/v1/projects/${bench.projectId}/sessions/${id}/conversation/events?brief=true`;
  const { body } = await fetch(bench.api.url + path, {
    headers: { Authorization: `Bearer ${bench.api.token}`, "Last-Event-ID": after },
    signal: AbortSignal.timeout(WAIT_LIMIT_MS),
  });
  const events: ConversationStreamEvent[] = [];
  if (!body) throw new Error("no body");
  for await (const { data } of readEvents(body)) {
    const event: ConversationStreamEvent = JSON.parse(data);
    events.push(event);
    if (isLast(event)) return events;
  }
  throw new Error(`the stream ended after ${JSON.stringify(events)}`);
}

const ran = (output: string) => ({
  ...{ status: "completed", input: { command: "npm test" }, output, title: "npm test", metadata: {} },
});

test("a brief conversation has short details of tools, and leaves out long ones, which the part has", async () => {
  const { id, runtime } = await followed();
  ask(runtime, "1");
  const long = "x".repeat(492);
  runtime.part("msg_1a", { id: "prt_s", type: "tool", tool: "bash", state: ran(long) });
  runtime.part("msg_1a", { id: "prt_l", type: "tool", tool: "bash", state: ran(`${long}y`) });
  const all = await parts(id, ({ length }) => length === 3);
  expect(all.map(({ brief, tool }) => [brief, tool?.output.length])).toEqual([
    [false, undefined],
    [false, 492],
    [false, 493],
  ]);
  const brief = (await read(id, "?brief=true")).turns.flatMap((turn) => turn.parts);
  expect(brief[1]).toEqual(all[1] as TurnPart);
  expect(brief[2]).toMatchObject({ brief: true, tool: { title: "npm test", input: [], output: "" } });
  const events = await stream(id, "0", (event) => event.type === "part" && event.part.part_id === "prt_l");
  expect(events.at(-1)).toMatchObject({ part: brief[2] });
  expect((await bench.call("GET", `/${id}/conversation/parts/prt_l`)).body).toEqual(all[2]);
  const missing = await bench.call("GET", `/${id}/conversation/parts/prt_x`);
  expect([missing.status, missing.body.code]).toEqual([404, "not_found"]);
});

test("a stream that begins in the middle of a text continues it at once", async () => {
  const { id, runtime } = await followed();
  runtime.setBusy(true);
  ask(runtime, "1");
  runtime.part("msg_1a", { id: "prt_1", type: "text", text: "It is", time: { start: 1 } });
  await parts(id, (found) => found.some(({ text }) => text === "It is"));
  const { event_id } = await read(id);
  const reading = stream(id, event_id, (event) => event.type === "text" && event.text.endsWith("5"));
  // the stream may not have begun with the first ones
  let word = 0;
  const done = reading.then(() => true);
  while (!(await Promise.race([done, Bun.sleep(20).then(() => false)])))
    runtime.delta("msg_1a", "prt_1", ` ${word++}`);
  const events = await reading;
  const first = events.find(({ type }) => type === "text");
  expect(first).toMatchObject({ part_id: "prt_1", from: 5 });
  expect(events.filter(({ type }) => type === "part")).toEqual([]);
});

test("what a subagent does is below the tool that started it, and is not the agent's answer", async () => {
  const { id, runtime } = await followed();
  const promptId = crypto.randomUUID();
  const name = `x${messageEndOf(promptId)}`;
  bench.provider.onPrompt = () => {
    ask(runtime, name);
    const metadata = { sessionId: "ses_child" };
    const state = { status: "running", input: { description: "Look" }, title: "Look", metadata };
    runtime.part(`msg_${name}a`, { id: "prt_task", type: "tool", tool: "task", state });
    const child = { sessionID: "ses_child" };
    runtime.emit("message.updated", { info: { ...child, id: "msg_c", role: "user" } });
    const asked = { ...child, id: "prt_c", messageID: "msg_c", type: "text", text: "Look around" };
    runtime.emit("message.part.updated", { part: asked });
    const answer = { ...child, id: "msg_d", role: "assistant", parentID: "msg_c" };
    runtime.emit("message.updated", { info: answer });
    const ofChild = { ...child, messageID: "msg_d" };
    const use = { ...ofChild, id: "prt_d", type: "tool", tool: "bash", state: ran("a.ts") };
    runtime.emit("message.part.updated", { part: use });
    const text = { ...ofChild, id: "prt_e", type: "text", text: "foun", time: { start: 1 } };
    runtime.emit("message.part.updated", { part: text });
    const delta = { ...ofChild, partID: "prt_e", field: "text", delta: "d" };
    runtime.emit("message.part.delta", delta);
    runtime.emit("message.updated", { info: { ...answer, time: { created: 1, completed: 2 } } });
    runtime.part(`msg_${name}a`, { id: "prt_z", type: "text", text: "Done.", time: { end: 2 } });
    const time = { created: 1, completed: 2 };
    runtime.message({ id: `msg_${name}a`, role: "assistant", time, finish: "stop" });
    return { state: "answered", error: null };
  };
  await bench.call("POST", `/${id}/prompt`, { body: { text: "Go", prompt_id: promptId } });
  const found = await parts(id, (all) => all.length === 5);
  bench.provider.onPrompt = () => ({ state: "answered", error: null });
  // the end of the prompt stores the conversation, too: which of the two is first differs
  const byId = found.toSorted((a, b) => a.part_id.localeCompare(b.part_id));
  expect(byId.map(({ part_id, parent_id, text }) => [part_id, parent_id, text])).toEqual([
    ["prt_d", "prt_task", ""],
    ["prt_e", "prt_task", "found"],
    ["prt_task", null, ""],
    [`prt_${name}p`, null, "Go"],
    ["prt_z", null, "Done."],
  ]);
  const { db, close } = await openPostgres(bench.api.databaseUrl ?? "");
  expect((await answersTo(db, id, [promptId])).get(promptId)).toBe("Done.");
  expect(await recapOf(db, id)).not.toContain("found");
  await close();
});

test("while the model does not answer, the turn has the retry, and what was written is dropped", async () => {
  const { id, runtime } = await followed();
  runtime.setBusy(true);
  ask(runtime, "1");
  runtime.part("msg_1a", { id: "prt_1", type: "text", text: "It i", time: { start: 1 } });
  await parts(id, (found) => found.some(({ text }) => text === "It i"));
  const status = { type: "retry", attempt: 2, message: "overloaded", next: 5_000 };
  runtime.emit("session.status", { status });
  let turn: Turn | undefined;
  const becomes = (isRight: () => boolean) =>
    until("the turn is right", async () => {
      turn = (await read(id)).turns[0];
      return isRight();
    });
  await becomes(() => turn?.retry != null);
  expect(turn?.retry).toEqual({ attempt: 2, message: "overloaded", at: "1970-01-01T00:00:05.000Z" });
  expect(turn?.parts.map(({ text, state }) => [text, state])).toEqual([
    ["Go", "done"],
    ["", "done"],
  ]);
  runtime.setBusy(true);
  await becomes(() => turn?.retry === null);
  expect(turn).toMatchObject({ state: "working", sandbox: 1 });
});

test.each([
  ["permission", { permission: "bash", patterns: [] }, "/permission/per_1/reply"],
  ["question", { questions: [{ question: "Which?", options: [] }] }, "/question/per_1/reject"],
] as const)("a %s can be left without an answer", async (kind, fields, path) => {
  const { id, runtime } = await followed();
  runtime.setBusy(true);
  runtime.ask(kind, { id: "per_1", ...fields });
  const body = { request_id: "per_1", answer: null };
  expect((await bench.call("POST", `/${id}/answer`, { body })).status).toBe(200);
  expect(runtime.replies).toEqual([path]);
});
