import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChildren } from "../../daemon/process/children.ts";
import { AgentRecordKeeper, type RecordContext } from "../../daemon/record/agent-record.ts";
import { packRecord, unpackRecord } from "../../daemon/record/archive.ts";
import { readSettings } from "../../daemon/settings.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import type { AgentRecord } from "../../src/contract/agent-record.ts";
import { AGENT, leastEnvironment, type StandInApi, standInApi } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const PROJECTS = ".claude/projects";
let home: string;
let api: StandInApi;
let sent: AgentRecord[];
/** What the runtime answers, and the status of the API's answer. */
let runtime: { state: "ok" | "down"; isBusy: boolean; last: object | null };
let status: number;
let logged: string[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "svc-record-home-"));
  mkdirSync(join(home, PROJECTS, "of-it"), { recursive: true });
  writeFileSync(join(home, PROJECTS, "of-it/talk.jsonl"), "said\n");
  [sent, logged, status] = [[], [], 204];
  runtime = { state: "ok", isBusy: false, last: answered(1) };
  api = standInApi(async (request) => {
    if (status === 204) sent.push(await request.json());
    return new Response(null, { status });
  });
});
afterEach(() => {
  api[Symbol.dispose]();
  rmSync(home, { recursive: true, force: true });
});

const answered = (turn: number) => ({ info: { id: `msg_${turn}_answer`, parentID: `msg_${turn}` } });

function keeper(change: Partial<RecordContext> = {}, env: Record<string, string> = {}): AgentRecordKeeper {
  // one that still sends when its test ends logs nothing into the next
  const own = logged;
  const environment = {
    ...leastEnvironment(),
    SVC_API_URL: `${api.origin}/v1`,
    SVC_RUNTIME_HOME: home,
    SVC_RUNTIME_NAME: "claude-code",
    ...env,
  };
  const call: ReturnType<RecordContext["runtime"]>["call"] = async (_, path) => ({
    status: 200,
    isJson: true,
    body: path === "/session/status" ? (runtime.isBusy ? { ses_1: { type: "busy" } } : {}) : [runtime.last],
  });
  return new AgentRecordKeeper({
    settings: readSettings(environment, null),
    children: createChildren(),
    log: { info: (text) => own.push(text), runtime: () => {} },
    conversation: { find: async () => "ses_1", open: async () => "ses_1" },
    runtime: () => ({ state: runtime.state, call }),
    program: AGENT,
    ...change,
  });
}

async function unpacked({ record }: AgentRecord): Promise<string> {
  const folder = mkdtempSync(join(home, "unpacked-"));
  await unpackRecord(folder, [PROJECTS], Buffer.from(record, "base64"));
  return folder;
}

describe("the record of an agent", () => {
  test("is sent once for each turn, by the id of its prompt", async () => {
    const keeps = keeper();
    await keeps.save();
    await keeps.save();
    expect(sent.map(({ turn_id, workspace }) => [turn_id, workspace])).toEqual([["msg_1", "/workspace"]]);
    runtime.last = { info: { id: "msg_2", role: "user" } };
    await keeps.save();
    expect(sent.map(({ turn_id }) => turn_id)).toEqual(["msg_1", "msg_2"]);
    const [first] = sent;
    const folder = first ? await unpacked(first) : "";
    expect(readFileSync(join(folder, PROJECTS, "of-it/talk.jsonl"), "utf8")).toBe("said\n");
    expect(logged).toEqual([]);
  });

  test.each([
    ["while the agent works", { isBusy: true }],
    ["while the runtime is down", { state: "down" as const }],
    ["before anything was said", { last: null }],
  ])("is not sent %s", async (_, change) => {
    Object.assign(runtime, change);
    await keeper().save();
    expect([sent, logged]).toEqual([[], []]);
  });

  test("is sent again after svc did not take it", async () => {
    const keeps = keeper();
    status = 503;
    await keeps.save();
    expect(logged).toEqual([
      "the agent's own record of the conversation was not kept: svc's API returned status 503.",
    ]);
    status = 204;
    await keeps.save();
    expect(sent).toHaveLength(1);
  });

  test("is sent at intervals, until the daemon stops", async () => {
    const keeps = keeper({ limits: { recordIntervalMs: 10 } });
    keeps.start();
    await until("it is sent", () => sent.length === 1);
    runtime.last = answered(2);
    await until("the next one is sent", () => sent.length === 2);
    keeps.stop();
  });

  test("is not kept if it is too large", async () => {
    const file = join(home, PROJECTS, "of-it/large.jsonl");
    writeFileSync(file, "");
    truncateSync(file, 65 * 1024 * 1024);
    await keeper().save();
    expect(sent).toEqual([]);
    expect(logged).toEqual(["the agent's own record of the conversation was not kept: it is too large."]);
  });
});

describe("of an earlier sandbox", () => {
  const earlier = (workspace: string) => () =>
    Response.json({ turn_id: "msg_1", workspace, record: Buffer.from("no archive").toString("base64") });

  test.each([
    ["that is missing", () => new Response(null, { status: 404 }), "svc's API returned status 404."],
    ["that is damaged", earlier("/workspace"), "it could not be unpacked."],
    ["of another folder", earlier("/elsewhere"), "the workspace was in another folder."],
  ])("a record %s is not restored, and the agent is told a summary once", async (_, answer, why) => {
    rmSync(join(home, PROJECTS), { recursive: true });
    api.answer = answer;
    const told: string[] = [];
    const call: ReturnType<RecordContext["runtime"]>["call"] = async (_method, _path, _ms, body) => {
      told.push(JSON.stringify(body));
      return { status: 200, isJson: true, body: {} };
    };
    const keeps = keeper(
      { runtime: () => ({ state: "ok", call }) },
      { SVC_CONVERSATION_RECAP: "all that svc knows", SVC_AGENT_RECORD: JSON.stringify({ since: null }) },
    );
    await keeps.restore(AbortSignal.timeout(WAIT_LIMIT_MS));
    expect(logged).toEqual([`the agent's own record of the conversation was not restored: ${why}`]);
    await keeps.tell();
    await keeps.tell();
    expect(told).toEqual([expect.stringContaining("all that svc knows")]);
    expect(told[0]).toContain("record of the conversation is not in this sandbox");
  });
});

describe("an archive", () => {
  test("has no files that links lead to, and no others of the home", async () => {
    writeFileSync(join(home, "secret"), "x");
    symlinkSync(join(home, "secret"), join(home, PROJECTS, "link"));
    symlinkSync("/etc", join(home, PROJECTS, "folder"));
    const packed = await packRecord(home, [PROJECTS, "missing"]);
    const files = await new Bun.Archive(packed).files();
    expect([...files.keys()]).toEqual([`${PROJECTS}/of-it/talk.jsonl`]);
  });

  test("has a whole copy of a database that is being written", async () => {
    using database = new Database(join(home, "talk.db"), { create: true });
    database.run("PRAGMA journal_mode = WAL");
    database.run("CREATE TABLE said (word TEXT)");
    database.run("INSERT INTO said VALUES ('ochre')");
    const folder = join(home, "next");
    mkdirSync(folder);
    await unpackRecord(folder, ["talk.db"], await packRecord(home, ["talk.db"]));
    using copy = new Database(join(folder, "talk.db"));
    expect(copy.query("SELECT word FROM said").all()).toEqual([{ word: "ochre" }]);
    expect(readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name))).toEqual(["talk.db"]);
  });

  test("that is damaged leaves nothing behind, and one that would replace a record is refused", async () => {
    const packed = await packRecord(home, [PROJECTS]);
    await expect(unpackRecord(home, [PROJECTS], packed)).rejects.toThrow(`${PROJECTS} exists`);
    const folder = join(home, "next");
    mkdirSync(folder);
    const whole = { [`${PROJECTS}/a`]: "a", [`${PROJECTS}/b`]: "b".repeat(10_000) };
    const tar = await new Bun.Archive(whole).bytes();
    await expect(unpackRecord(folder, [PROJECTS], tar.subarray(0, 3_000))).rejects.toThrow();
    expect(existsSync(join(folder, PROJECTS))).toBe(false);
  });
});
