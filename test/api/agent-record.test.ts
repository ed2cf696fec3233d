import { afterAll, beforeAll, describe, expect } from "bun:test";
import { eq } from "drizzle-orm";
import { agentRecords, conversationParts, conversations, conversationTurns } from "../../db/schema/index.ts";
import { AGENT_RECORD_BODY_MAX_BYTES } from "../../src/contract/limits.ts";
import { recordedEarlier } from "../../src/features/sessions/conversation/recorded-earlier.ts";
import { type GatewayBench, type Place, startGateway } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

const test = needs("a real Postgres", POSTGRES);

let bench: GatewayBench;
beforeAll(async () => {
  if (POSTGRES) bench = await startGateway();
});
afterAll(() => bench?.stop());

const RECORD = { turn_id: "msg_2", workspace: "/workspace", record: Buffer.from("said").toString("base64") };

function call(method: "GET" | "PUT", token: string | null, body?: unknown, place: Place = bench.hosted) {
  const path = `/v1/projects/${place.project.project_id}/git/agent-record`;
  return bench.api.call(method, path, { token, ...(body !== undefined && { body }) });
}

describe("an agent's record", () => {
  test("is kept for the next sandbox of its session, and replaced by the next one", async () => {
    const { serviceKey } = await bench.session(bench.hosted);
    expect((await call("GET", serviceKey)).status).toBe(404);
    for (const turn_id of ["msg_1", "msg_2"]) {
      expect((await call("PUT", serviceKey, { ...RECORD, turn_id })).status).toBe(204);
      expect((await call("GET", serviceKey)).body).toEqual({ ...RECORD, turn_id });
    }
  });

  test("is encrypted in the database, for its session alone, and removed with it", async () => {
    const [one, other] = [await bench.session(bench.hosted), await bench.session(bench.hosted)];
    await call("PUT", one.serviceKey, RECORD);
    const ofOne = eq(agentRecords.sessionId, one.id);
    const [row] = await bench.db.select().from(agentRecords).where(ofOne);
    expect(Buffer.from(row?.record ?? "", "base64url").toString()).not.toContain(RECORD.record);
    if (row) await bench.db.insert(agentRecords).values({ ...row, sessionId: other.id });
    const moved = await call("GET", other.serviceKey);
    expect([moved.status, moved.body.error]).toEqual([404, expect.stringContaining("cannot be decrypted")]);
    await bench.end(one.id);
    expect(await bench.db.$count(agentRecords, ofOne)).toBe(0);
  });

  test("is not shown to, or taken from, anybody but the daemon of the session's sandbox", async () => {
    const session = await bench.session(bench.hosted);
    const stopped = await bench.session(bench.hosted, "stopped");
    const elsewhere = await bench.session(bench.external);
    const answers: [string | null, number][] = [
      [null, 401],
      ["svc_sb_unknown", 401],
      [session.cloneCredential, 401],
      [bench.api.token, 403],
      [await bench.api.mint("stranger@example.com"), 403],
      [session.token, 403],
      [stopped.serviceKey, 403],
      [elsewhere.serviceKey, 403],
    ];
    for (const [token, status] of answers)
      for (const [method, body] of [["GET"], ["PUT", RECORD], ["PUT", { wrong: true }]] as const)
        expect([token, method, (await call(method, token, body)).status]).toEqual([token, method, status]);
  });

  test.each([
    ["without a turn", { ...RECORD, turn_id: "" }, 400],
    ["with a turn that is no id", { ...RECORD, turn_id: "../x" }, 400],
    ["of a relative folder", { ...RECORD, workspace: "workspace" }, 400],
    ["that is too large", { ...RECORD, record: "A".repeat(AGENT_RECORD_BODY_MAX_BYTES) }, 413],
  ])("%s is refused", async (_, body, status) => {
    const { serviceKey } = await bench.session(bench.hosted);
    expect((await call("PUT", serviceKey, body)).status).toBe(status);
    expect((await call("GET", serviceKey)).status).toBe(404);
  });
});

test("the next sandbox is told what followed the record, if it is of the same agent", async () => {
  const { id: sessionId, serviceKey } = await bench.session(bench.hosted);
  const [head] = await bench.db.insert(conversations).values({ sessionId }).returning();
  const conversation = head?.id ?? 0;
  const at = new Date();
  for (const number of [1, 2, 3]) {
    const state = "done" as const;
    const turnId = `msg_${number}`;
    await bench.db
      .insert(conversationTurns)
      .values({ conversation, number, turnId, generation: 1, state, startedAt: at, version: 1 });
    const part = {
      conversation,
      number,
      partId: `prt_${number}`,
      turn: number,
      isComplete: true,
      at,
      version: 1,
    };
    await bench.db
      .insert(conversationParts)
      .values({ ...part, kind: "prompt", plainText: `${number}.`, bytes: 2 });
  }
  const told = (runtime = "opencode") => recordedEarlier(bench, sessionId, runtime);
  expect(await told()).toBeNull();
  await call("PUT", serviceKey, RECORD);
  const { since } = (await told()) ?? {};
  expect(since).toContain("## User\n\n3.");
  expect(since).not.toContain("2.");
  expect(await told("codex")).toBeNull();
  await call("PUT", serviceKey, { ...RECORD, turn_id: "msg_3" });
  expect(await told()).toEqual({ since: null });
  await call("PUT", serviceKey, { ...RECORD, turn_id: "msg_unknown" });
  expect(await told()).toBeNull();
});
