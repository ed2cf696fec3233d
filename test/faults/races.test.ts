import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { sql } from "drizzle-orm";
import { type Database, openPostgres } from "../../db/client.ts";
import { MERGE_STEPS, type MergeStep } from "../../src/deps.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import {
  AGAINST_BINARIES,
  type Answer,
  type Api,
  caller,
  makeFolder,
  spawnServer,
  startApi,
} from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, createEmptyDatabase, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";
import { sample, share } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import { serverCommand } from "../helpers/server-command.ts";

const test = needs("a real Postgres", POSTGRES);
const SERVER = AGAINST_BINARIES ? ["dist/svc-api"] : serverCommand("api");

/** Milliseconds between a merge and a close of the same change request. */
const DELAYS = [0, 8, 16, 24, 32, 40, 48, 56];

/** Requests at the same instant, and merges of different change requests. */
const [MANY, MERGES] = [share(16, 40), share(8, 12)];

/** Made by the first test that runs, so that none is needed where none runs. */
let made: Promise<TestDatabase> | undefined;
/** Undone after each test, the newest first. */
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});
afterAll(async () => (await made)?.drop());

function database(): Promise<TestDatabase> {
  made ??= createDatabase();
  return made;
}

function makeRemote(): Remote {
  const remote = new Remote();
  undo.push(() => remote.remove());
  remote.commit("main", { a: "1\n" });
  return remote;
}

/** Two API processes on one database, each with a data folder of its own. */
async function startTwoServers() {
  const { url } = await database();
  const start = async () => {
    const env = {
      SVC_PORT: "0",
      SVC_DATA_DIR: makeFolder(),
      SVC_ALLOW_PRIVATE_REPOS: "1",
      SVC_LOG_LEVEL: "silent",
      SVC_MASTER_KEY: "ab".repeat(32),
      DATABASE_URL: url,
    };
    return { server: await spawnServer(SERVER, env), env };
  };
  const [one, two] = await Promise.all([start(), start()]);
  const token = await sendAdminCommand(one.env.SVC_DATA_DIR, {
    verb: "token",
    email: "first@example.com",
    name: "t",
  });
  const calls = [one, two].map(({ server }) => caller(server.url, token ?? ""));
  /** Spreads calls over the servers. */
  let turn = 0;
  const call: Api["call"] = (...request) => {
    const next = calls[turn++ % calls.length];
    if (!next) throw new Error("no server");
    return next(...request);
  };
  return { call, stop: () => Promise.all([one.server.stop(), two.server.stop()]) };
}

async function makeProject(call: Api["call"], remote: Remote): Promise<string> {
  const { body } = await call("POST", "/v1/projects", { body: { name: "p", repo_url: remote.url } });
  return `/v1/projects/${body.project_id}/change-requests`;
}

describe("two API processes on one Postgres", () => {
  let servers: Awaited<ReturnType<typeof startTwoServers>>;
  beforeAll(async () => {
    if (POSTGRES) servers = await startTwoServers();
  });
  afterAll(() => servers?.stop());
  const call: Api["call"] = (...request) => servers.call(...request);

  test(`${MANY} concurrent creations get the numbers 1 to ${MANY}`, async () => {
    const remote = makeRemote();
    remote.commit("work", { a: "2\n" }, { from: "main" });
    const heads = Array.from({ length: MANY }, (_, n) => `w${n}`);
    remote.git("push", "--quiet", ".", ...heads.map((head) => `work:refs/heads/${head}`));
    const path = await makeProject(call, remote);
    const made = await Promise.all(
      heads.map((head_ref) => call("POST", path, { body: { title: head_ref, head_ref } })),
    );
    expect(new Set(made.map((answer) => answer.status))).toEqual(new Set([201]));
    const numbers = made.map((answer) => answer.body.number).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: MANY }, (_, n) => n + 1));
  });

  test(`of ${MANY} concurrent creations and reopenings of the same branches on two servers, one is open`, async () => {
    const remote = makeRemote();
    remote.commit("work", { a: "2\n" }, { from: "main" });
    const path = await makeProject(call, remote);
    const open = () => call("POST", path, { body: { title: "t", head_ref: "work" } });
    expect((await open()).status).toBe(201);
    await call("POST", `${path}/1/close`);
    const made = await Promise.all(
      Array.from({ length: MANY }, (_, n) => (n % 2 === 0 ? open() : call("POST", `${path}/1/reopen`))),
    );
    expect(made.filter(({ status }) => status < 300)).toHaveLength(1);
    expect(made.filter(({ status }) => status === 409)).toHaveLength(MANY - 1);
    expect((await call("GET", `${path}?status=open`)).body.change_requests).toHaveLength(1);
  });

  test(`${MERGES} concurrent merges into one base all succeed or are rejected, and none is lost`, async () => {
    const remote = makeRemote();
    for (let n = 0; n < MERGES; n++) remote.commit(`w${n}`, { [`f${n}`]: `${n}\n` }, { from: "main" });
    const path = await makeProject(call, remote);
    for (let n = 0; n < MERGES; n++)
      await call("POST", path, { body: { title: `t${n}`, head_ref: `w${n}` } });
    const answers = await Promise.all(
      Array.from({ length: MERGES }, (_, n) => call("POST", `${path}/${n + 1}/merge`)),
    );
    for (const answer of answers)
      expect(answer.status === 200 || answer.body.code === "base_moved").toBe(true);
    const merged = answers.filter((answer) => answer.status === 200);
    expect(merged.length).toBeGreaterThan(MERGES / 2);
    // One after the other on the base branch: each merge's first parent is what it was merged into.
    const line = remote.git("rev-list", "--first-parent", "main").trim().split("\n");
    for (const { body } of merged) {
      const at = line.indexOf(body.merge_commit_sha);
      expect(at).toBeGreaterThanOrEqual(0);
      expect(body.base_commit_sha).toBe(line[at + 1]);
    }
    expect(line).toHaveLength(merged.length + 1);
    const files = remote.git("ls-tree", "--name-only", "main").trim().split("\n");
    expect(files.sort()).toEqual(["a", ...merged.map(({ body }) => body.head_ref.replace("w", "f"))].sort());
    for (const refused of answers.filter((answer) => answer.status !== 200)) {
      expect(refused.headers.get("retry-after")).toBe("1");
    }
    const open = await call("GET", `${path}?status=open&limit=200`);
    expect(open.body.change_requests).toHaveLength(MERGES - merged.length);
  });

  test("of 10 merges of one change request one succeeds, the others are 409", async () => {
    const remote = makeRemote();
    remote.commit("work", { b: "2\n" }, { from: "main" });
    remote.commit("main", { c: "3\n" });
    const path = await makeProject(call, remote);
    await call("POST", path, { body: { title: "t", head_ref: "work" } });
    const answers = await Promise.all(Array.from({ length: 10 }, () => call("POST", `${path}/1/merge`)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    for (const answer of answers) expect([200, 409]).toContain(answer.status);
    expect(remote.git("rev-list", "--merges", "--count", "main").trim()).toBe("1");
  });

  test("of a concurrent merge and close one wins, and the repository agrees", async () => {
    const remote = makeRemote();
    const path = await makeProject(call, remote);
    for (const [index, delay] of sample(2, DELAYS).entries()) {
      const round = index + 1;
      const base = remote.sha("main");
      remote.commit(`work${round}`, { [`b${round}`]: "2\n" }, { from: "main" });
      await call("POST", path, { body: { title: "t", head_ref: `work${round}` } });
      const merging = call("POST", `${path}/${round}/merge`);
      await Bun.sleep(delay);
      const closing = call("POST", `${path}/${round}/close`);
      const [merged, closed] = await Promise.all([merging, closing]);
      const { status } = (await call("GET", `${path}/${round}`)).body.change_request;
      expect([merged.status === 200, closed.status === 200]).toEqual([
        status === "merged",
        status === "closed",
      ]);
      expect(remote.sha("main") !== base).toBe(status === "merged");
    }
  });
});

test("processes that start together on an empty database all start", async () => {
  const empty = await createEmptyDatabase();
  undo.push(() => empty.drop());
  const opened = await Promise.all(Array.from({ length: 3 }, () => openPostgres(empty.url)));
  await Promise.all(opened.map((database) => database.close()));
});

describe("a database that disconnects", () => {
  let api: Api;
  let operator: Database;
  /** The step at which all other connections to the database end; null: they are not to, or have. */
  let gone: MergeStep | null = null;
  beforeAll(async () => {
    if (!POSTGRES) return;
    const { url } = await database();
    operator = await openPostgres(url);
    api = await startApi({
      env: { DATABASE_URL: url, SVC_MASTER_KEY: "ab".repeat(32) },
      deps: {
        async checkpoint(reached) {
          if (reached !== gone) return;
          gone = null;
          await operator.db.execute(
            sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
          );
        },
      },
    });
  });
  afterAll(async () => {
    await api?.stop();
    await operator?.close();
  });

  const rows = MERGE_STEPS.flatMap((step) => [[step, false] as const, [step, true] as const]);
  test.each(sample(1, rows))(
    "after %s (diverged: %p): rows and repository agree afterwards",
    async (step, diverged) => {
      const remote = makeRemote();
      remote.commit("work", { b: "2\n" }, { from: "main" });
      if (diverged) remote.commit("main", { c: "3\n" });
      const base = remote.sha("main");
      const path = await makeProject(api.call, remote);
      await api.call("POST", path, { body: { title: "t", head_ref: "work" } });
      gone = step;
      const answer = await api.call("POST", `${path}/1/merge`);
      expect<MergeStep | null>(gone).toBe(null);
      expect([200, 503]).toContain(answer.status);
      const row = async (): Promise<Answer["body"]> =>
        (await retry(() => api.call("GET", `${path}/1`))).body.change_request;
      const read = await row();
      expect(remote.sha("main") !== base).toBe(read.status === "merged");
      if (read.status === "open") expect((await api.call("POST", `${path}/1/merge`)).status).toBe(200);
      expect(await row()).toMatchObject({
        status: "merged",
        merge_commit_sha: remote.sha("main"),
        base_commit_sha: base,
      });
      expect(remote.git("rev-list", "--merges", "--count", "main").trim()).toBe(diverged ? "1" : "0");
    },
  );
});

/** The first answers after the database came back may still be 503: each says when to try again. */
async function retry(request: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 0; ; attempt++) {
    const answer = await request();
    if (answer.status !== 503 || attempt === 20) return answer;
    expect(answer.headers.get("retry-after")).toBe("5");
    await Bun.sleep(50);
  }
}
