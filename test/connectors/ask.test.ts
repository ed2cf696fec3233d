import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import pino from "pino";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import type { ConnectorAsk } from "../../src/contract/connector.ts";
import { SvcError } from "../../src/contract/errors.ts";
import { Changes } from "../../src/lib/changes.ts";
import { openConnections } from "../../src/lib/connections.ts";
import { createGate } from "../../src/lib/gate.ts";
import {
  type ConnectorBench,
  mcpAnswer,
  type Service,
  startConnectors,
  startService,
  text,
  tool,
} from "../helpers/connectors.ts";
import { connectMcp, type McpClient } from "../helpers/mcp.ts";
import { until } from "../helpers/until.ts";

let bench: ConnectorBench;
/** Whose calls do not wait for a person. */
let impatient: ConnectorBench;
let service: Service;
/** What happens before a call of `impatient` gets its slot. */
let beforeSlot = async () => {};
/** Longer than a test waits. */
const NEVER_MS = 2 * WAIT_LIMIT_MS;
/** The only slot of `impatient`, and how many of its calls have it or wait for it. */
const slot = createGate({ total: 1, perKey: 1, queue: 8, queuePerKey: 8, waitMs: NEVER_MS });
let queued = 0;
/** What `bench` logs. */
const logged: string[] = [];
/** The calls that reached the service. */
let reached: string[] = [];

beforeAll(async () => {
  const log = pino({ level: "info" }, { write: (line: string) => void logged.push(line) });
  bench = await startConnectors({ deps: { connections: openConnections({ askWaitMs: NEVER_MS }), log } });
  service = startService(
    mcpAnswer({
      tools: [tool("write"), tool("read")],
      call(name, args) {
        reached.push(`${name} ${JSON.stringify(args)}`);
        return text("done");
      },
    }),
  );
  const connections = openConnections({ askWaitMs: 0 });
  const gate: typeof slot = async (key, work, signal) => {
    await beforeSlot();
    queued++;
    return await slot(key, work, signal).finally(() => queued--);
  };
  impatient = await startConnectors({ deps: { connections: { ...connections, gate } } });
  for (const each of [bench, impatient])
    await each.have(
      `[[connectors]]\nslug = "hub"\ntype = "mcp"\nurl = "${service.url}/mcp"\n[[connectors.policies]]\nmatch = "write"\naction = "ask"\n`,
    );
});
beforeEach(() => {
  reached = [];
  beforeSlot = async () => {};
});
afterAll(async () => {
  await bench?.stop();
  await impatient?.stop();
  await service?.stop();
});

const asks = async (state: "pending" | "all" = "pending"): Promise<ConnectorAsk[]> =>
  (await bench.call("GET", `/connector-asks?state=${state}`)).body.asks;
/** Waits for the question about a call. */
async function question(args: Record<string, unknown>): Promise<ConnectorAsk> {
  let found: ConnectorAsk | undefined;
  await until("there is a question", async () => {
    found = (await asks()).find((ask) => ask.arguments === JSON.stringify(args));
    return found !== undefined;
  });
  if (!found) throw new Error("no question");
  return found;
}
const answer = (ask: ConnectorAsk, body: Record<string, unknown>, as?: { token: string }) =>
  bench.call("POST", `/connector-asks/${ask.ask_id}/answer`, { body, ...as });

test("a call waits for a person, and runs once when it is approved", async () => {
  const args = { text: "approved" };
  const call = bench.agent.call("hub_write", args);
  const ask = await question(args);
  expect(ask).toMatchObject({
    connector: "hub",
    tool: "write",
    arguments: '{"text":"approved"}',
    state: "pending",
    session_id: bench.session,
    author: { kind: "agent", session_id: bench.session },
    answered_by: null,
  });
  expect(reached).toEqual([]);
  const answered = await answer(ask, { answer: "approve" });
  expect(answered).toMatchObject({
    status: 200,
    body: { state: "approved", answered_by: { name: "first" } },
  });
  expect(await call).toMatchObject({ isError: false, text: "done" });
  expect(reached).toEqual(['write {"text":"approved"}']);
  expect((await asks("all")).find(({ ask_id }) => ask_id === ask.ask_id)?.state).toBe("used");
  expect(await bench.lastCall()).toMatchObject({ tool: "write", action: "ask", outcome: "ok" });
  // the approval is used: the same call is a new question
  const again = bench.agent.call("hub_write", args);
  const second = await question(args);
  expect(second.ask_id).not.toBe(ask.ask_id);
  await answer(second, { answer: "deny" });
  const denied = await again;
  expect([denied.isError, denied.value.error.includes("Their message")]).toEqual([true, false]);
  expect(reached.length).toBe(1);
});

/** A call of `impatient` that was refused for want of an approval, and has it now. */
async function approved(args: Record<string, unknown>): Promise<void> {
  expect(await impatient.agent.call("hub_write", args)).toMatchObject({
    value: { code: "approval_pending" },
  });
  const [ask] = (await impatient.call("GET", "/connector-asks?state=pending")).body.asks;
  await impatient.call("POST", `/connector-asks/${ask.ask_id}/answer`, { body: { answer: "approve" } });
}

test("a call that is refused because too many run keeps its approval", async () => {
  const args = { text: "busy" };
  const call = () => impatient.agent.call("hub_write", args);
  await approved(args);
  beforeSlot = () => Promise.reject(new SvcError("unavailable", "Too many connector calls are waiting."));
  expect(await call()).toMatchObject({ value: { code: "unavailable" } });
  beforeSlot = async () => {};
  expect(reached).toEqual([]);
  expect(await call()).toMatchObject({ isError: false, text: "done" });
  expect(await call()).toMatchObject({ value: { code: "approval_pending" } });
  expect(reached).toEqual(['write {"text":"busy"}']);
});

/** Calls the tool with a connection that the signal closes. */
const send = ({ api, token }: ConnectorBench, args: Record<string, unknown>, signal: AbortSignal) =>
  fetch(`${api.url}/v1/executor/mcp`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "hub_write", arguments: args },
    }),
    signal,
  });

test("a call whose client goes while it waits for its turn leaves the queue, and keeps its approval", async () => {
  const args = { text: "queued" };
  await approved(args);
  const turn = Promise.withResolvers<void>();
  const ahead = slot(impatient.projectId, () => turn.promise);
  const closed = new AbortController();
  const sent = send(impatient, args, closed.signal).catch(() => "closed");
  await until("the call waits", () => queued === 1);
  closed.abort();
  await until("the call has left the queue", () => queued === 0);
  turn.resolve();
  await ahead;
  expect(await sent).toBe("closed");
  expect(reached).toEqual([]);
  expect(await impatient.agent.call("hub_write", args)).toMatchObject({ isError: false, text: "done" });
});

test("a call whose client goes while no person has answered ends, without waiting for the next poll", async () => {
  const args = { text: "abandoned" };
  const wait = Changes.prototype.wait;
  const waits = spyOn(Changes.prototype, "wait").mockImplementation(function (
    this: Changes,
    name,
    ms,
    signal,
  ) {
    return wait.call(this, name, name === "connector_ask" ? NEVER_MS : ms, signal);
  });
  const closed = new AbortController();
  const sent = send(bench, args, closed.signal).catch(() => "closed");
  const ask = await question(args);
  logged.length = 0;
  closed.abort();
  await until("the call has ended", () => logged.some((line) => line.includes("approval_pending")));
  waits.mockRestore();
  expect(await sent).toBe("closed");
  await answer(ask, { answer: "deny" });
  expect(reached).toEqual([]);
});

test("a call whose client has gone before its turn keeps its approval", async () => {
  const args = { text: "gone" };
  await approved(args);
  const waits = spyOn(Changes.prototype, "wait");
  const closed = new AbortController();
  const left = Promise.withResolvers<void>();
  let slots = 0;
  beforeSlot = async () => {
    if (slots++ > 0) return;
    const signal = waits.mock.calls.findLast(([name]) => name === "connector_ask")?.[2];
    closed.abort();
    await until("the server has noticed", () => signal?.aborted === true);
    left.resolve();
  };
  expect(send(impatient, args, closed.signal)).rejects.toThrow();
  await left.promise;
  waits.mockRestore();
  expect(await impatient.agent.call("hub_write", args)).toMatchObject({ isError: false, text: "done" });
  expect(reached).toEqual(['write {"text":"gone"}']);
  // the call without a client does not try again
  expect(slots).toBe(2);
  const { calls } = (await impatient.call("GET", "/connector-calls")).body;
  expect(calls.map(({ outcome }: { outcome: string }) => outcome).slice(0, 2)).toEqual(["ok", "ok"]);
});

test("an approval that expires before the call's turn is not used", async () => {
  const args = { text: "expired" };
  await approved(args);
  beforeSlot = async () => impatient.advance(11 * 60);
  expect(await impatient.agent.call("hub_write", args)).toMatchObject({
    value: { code: "approval_pending" },
  });
  expect(reached).toEqual([]);
});

test("a denial reaches the agent with the person's message, and holds", async () => {
  const args = { text: "denied" };
  const call = bench.agent.call("hub_write", args);
  await answer(await question(args), { answer: "deny", message: "Comment on #12 instead." });
  const expected = {
    isError: true,
    value: { code: "tool_denied", error: expect.stringContaining("Comment on #12 instead.") },
  };
  expect(await call).toMatchObject(expected);
  expect(await bench.agent.call("hub_write", args)).toMatchObject(expected);
  expect(await asks()).toEqual([]);
  expect(await bench.lastCall()).toMatchObject({ action: "ask", outcome: "denied" });
  expect(reached).toEqual([]);
});

test("an approval of one call is for no other arguments, and for no other caller", async () => {
  const args = { text: "mine" };
  const made = await bench.call("POST", "/cli-token", { body: { name: "ci" } });
  const script: McpClient = await connectMcp(bench.api.url, made.body.token);
  const call = bench.agent.call("hub_write", args);
  const ask = await question(args);
  const second = await bench.call("POST", "/cli-token", { body: { name: "ci2" } });
  const others = [
    script.call("hub_write", args),
    (await connectMcp(bench.api.url, second.body.token)).call("hub_write", args),
    bench.agent.call("hub_write", { text: "mine", more: 1 }),
  ];
  await until("there are four questions", async () => (await asks()).length === 4);
  await answer(ask, { answer: "approve" });
  expect((await call).isError).toBe(false);
  expect((await asks()).length).toBe(3);
  for (const other of await asks()) await answer(other, { answer: "deny" });
  for (const other of others) expect((await other).value).toMatchObject({ code: "tool_denied" });
  expect(reached).toEqual(['write {"text":"mine"}']);
});

test("the same call twice at once is one question; one approval lets one of them run", async () => {
  const args = { text: "twice" };
  const calls = [bench.agent.call("hub_write", args), bench.agent.call("hub_write", args)];
  const ask = await question(args);
  expect((await asks()).length).toBe(1);
  await answer(ask, { answer: "approve" });
  const second = await (async () => {
    let found: ConnectorAsk | undefined;
    await until("the other call is a new question", async () => {
      [found] = await asks();
      return found !== undefined && found.ask_id !== ask.ask_id;
    });
    return found;
  })();
  if (!second) throw new Error("no question");
  await answer(second, { answer: "deny" });
  const results = await Promise.all(calls);
  expect(results.map(({ isError }) => isError).sort()).toEqual([false, true]);
  expect(reached.length).toBe(1);
});

test("a call that nobody answers says so, and its repetition finds the answer that came meanwhile", async () => {
  const { agent, call } = impatient;
  const waits = await agent.call("hub_write", { text: "slow" });
  expect(waits).toMatchObject({ isError: true, value: { code: "approval_pending" } });
  const { asks: found } = (await call("GET", "/connector-asks?state=pending")).body;
  expect(waits.value.error).toContain(`svc connectors approve ${found[0].ask_id.slice(0, 8)}`);
  await call("POST", `/connector-asks/${found[0].ask_id}/answer`, { body: { answer: "approve" } });
  expect(await agent.call("hub_write", { text: "slow" })).toMatchObject({ isError: false, text: "done" });
  expect(reached.length).toBe(1);
  expect((await agent.call("hub_write", { text: "slow" })).value).toMatchObject({ code: "approval_pending" });
});

test("an approval that is not used in ten minutes expires", async () => {
  const args = { text: "unused" };
  await approved(args);
  impatient.advance(11 * 60);
  expect(await impatient.agent.call("hub_write", args)).toMatchObject({
    value: { code: "approval_pending" },
  });
  expect(reached).toEqual([]);
});

test("an agent cannot fill the list of questions", async () => {
  const { agent, call } = impatient;
  impatient.advance(60 * 60);
  for (let i = 0; i < 50; i++) await agent.call("hub_write", { i });
  expect((await agent.call("hub_write", { i: 50 })).value).toMatchObject({ code: "rate_limited" });
  expect((await call("GET", "/connector-asks?state=pending")).body.asks.length).toBe(50);
});

test("a question expires, and cannot be answered any more", async () => {
  const args = { text: "late" };
  const call = bench.agent.call("hub_write", args);
  const ask = await question(args);
  bench.advance(31 * 60);
  // the waiting call sees it, and asks again
  const second = await question(args);
  expect(second.ask_id).not.toBe(ask.ask_id);
  const late = await answer(ask, { answer: "approve" });
  expect([late.status, late.body.code]).toEqual([409, "ask_closed"]);
  expect((await asks("all")).find(({ ask_id }) => ask_id === ask.ask_id)?.state).toBe("expired");
  await answer(second, { answer: "deny" });
  expect((await call).isError).toBe(true);
  const twice = await answer(second, { answer: "approve" });
  expect([twice.status, twice.body.code]).toEqual([409, "ask_closed"]);
  expect(reached).toEqual([]);
});

test("agents and scripts cannot answer, nor members of other accounts", async () => {
  const args = { text: "self" };
  const call = bench.agent.call("hub_write", args);
  const ask = await question(args);
  const made = await bench.call("POST", "/cli-token", { body: { name: "ci2" } });
  for (const token of [bench.token, made.body.token, await bench.api.mint("stranger@example.com")])
    expect((await answer(ask, { answer: "approve" }, { token })).status).toBe(403);
  expect((await asks()).length).toBe(1);
  await answer(ask, { answer: "deny" });
  await call;
  expect(reached).toEqual([]);
});

test("a question of another project is not found", async () => {
  const args = { text: "other" };
  const call = bench.agent.call("hub_write", args);
  const ask = await question(args);
  const { project_id } = await bench.api.project(bench.remote.url);
  const path = `/v1/projects/${project_id}/connector-asks/${ask.ask_id}/answer`;
  expect((await bench.api.call("POST", path, { body: { answer: "approve" } })).status).toBe(404);
  await answer(ask, { answer: "deny" });
  await call;
});

test("arguments that nobody can review are refused", async () => {
  const textOf = (characters: number) => ({ text: "x".repeat(characters - '{"text":""}'.length) });
  const refused = await bench.agent.call("hub_write", textOf(8_001));
  expect(refused.value).toMatchObject({ code: "validation_failed" });
  impatient.advance(60 * 60);
  const asked = await impatient.agent.call("hub_write", textOf(8_000));
  expect(asked.value).toMatchObject({ code: "approval_pending" });
  expect(await asks()).toEqual([]);
});
