import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { openEmbedded } from "../../db/client.ts";
import { users } from "../../db/schema/index.ts";
import { AGAINST_BINARIES, caller, cleanEnvironment, makeFolder, spawnServer } from "../helpers/api.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const SERVER = AGAINST_BINARIES ? [resolve("dist/svc-api")] : [process.execPath, resolve("src/main.ts")];

const used = makeFolder();
beforeAll(async () => {
  expect((await run(settings(used), ["admin", "token", "--email", "a@b.c"])).err).toBe("");
});
afterAll(() => rmSync(used, { recursive: true, force: true }));

/** Undone after each test, the newest first. */
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function folder(): string {
  const path = makeFolder();
  undo.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A data folder of a server that has run before: its database takes half as long to open. */
function usedFolder(): string {
  const path = folder();
  cpSync(used, path, { recursive: true });
  return path;
}

function settings(dataDir: string): Record<string, string> {
  return { SVC_PORT: "0", SVC_DATA_DIR: dataDir, SVC_ALLOW_PRIVATE_REPOS: "1", SVC_LOG_LEVEL: "silent" };
}

async function start(env: Record<string, string>) {
  const server = await spawnServer(SERVER, env);
  undo.push(() => server.child.kill("SIGKILL"));
  return server;
}

async function run(env: Record<string, string>, args: string[], { stdin = "", cwd = "." } = {}) {
  const child = Bun.spawn([...SERVER, ...args], {
    env: { ...cleanEnvironment(), ...env },
    cwd,
    stdin: Buffer.from(stdin),
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("svc-api admin", () => {
  test("creates tokens with and without a running server, for the same users", async () => {
    const dataDir = folder();
    const env = settings(dataDir);
    const before = await run(env, ["admin", "token", "--email", "Me@Example.com"]);
    expect([before.code, before.err]).toEqual([0, ""]);
    expect(before.out).toMatch(/^svc_pat_[0-9A-Za-z]{43}\n$/);
    const server = await start(env);
    const during = await run(env, ["admin", "token", "--email", "me@example.com", "--name", "laptop"]);
    const ids = [];
    for (const token of [before.out.trim(), during.out.trim()]) {
      const answer = await caller(server.url, token)("GET", "/v1/accounts/me");
      expect([answer.status, answer.body.email]).toEqual([200, "me@example.com"]);
      ids.push(answer.body.user_id);
    }
    expect(new Set(ids).size).toBe(1);
    expect([mode(dataDir), mode(join(dataDir, "admin.sock")), mode(join(dataDir, "master.key"))]).toEqual([
      "700",
      "600",
      "600",
    ]);
  });

  test("sets a password from standard input, stored as argon2id", async () => {
    const dataDir = folder();
    const env = settings(dataDir);
    expect(await run(env, ["admin", "user", "--email", "a@b.c"], { stdin: "short\n" })).toMatchObject({
      code: 1,
      out: "",
    });
    expect(await run(env, ["admin", "user", "--email", "a@b.c"], { stdin: "correct horse\n" })).toMatchObject(
      { code: 0, out: "User created, password set.\n" },
    );
    const server = await start(env);
    expect(await run(env, ["admin", "user", "--email", "a@b.c"], { stdin: "battery staple" })).toMatchObject({
      code: 0,
      out: "Password set.\n",
    });
    await server.stop();
    const database = await openEmbedded(join(dataDir, "postgres"));
    const [user] = await database.db.select().from(users);
    await database.close();
    expect(user?.passwordHash).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$");
    expect(await Bun.password.verify("battery staple", user?.passwordHash ?? "")).toBe(true);
  });

  test.each([
    [["admin", "token"], 2, "--email"],
    [["admin", "link"], 2, "--email"],
    [["admin", "link", "--email", "nope"], 1, "e-mail"],
    [["admin", "nope", "--email", "a@b.c"], 2, "admin nope"],
    [["admin", "token", "--mail", "x"], 2, "--mail"],
    [["admin", "token", "--email", "nope"], 1, "e-mail"],
    [["serve"], 2, "serve"],
  ])("%p exits with %p", async (args, code, words) => {
    const result = await run(settings(usedFolder()), args);
    expect([result.code, result.out]).toEqual([code, ""]);
    expect(result.err).toContain(words);
    expect(result.err.trim().split("\n")).toHaveLength(1);
  });
});

test("version and help", async () => {
  expect((await run({}, ["version"])).out).toMatch(/^svc-api \d+\.\d+\.\d+\n$/);
  expect((await run({}, ["--help"])).out).toContain("svc-api admin token");
});

test.each([
  ["SVC_PORT", "http"],
  ["SVC_PORT", "70000"],
  ["SVC_DATA_DIR", "relative/path"],
  ["SVC_DATA_DIR", `/${"x".repeat(100)}`],
  ["SVC_PUBLIC_URL", "localhost:8008"],
  ["SVC_PUBLIC_URL", "https://user:hunter2@example.com"],
  ["DATABASE_URL", "mysql://user:hunter2@host/db"],
  ["SVC_MASTER_KEY", "hunter2"],
  ["SVC_ALLOW_PRIVATE_REPOS", "maybe"],
  ["SVC_SSH_KEYS", "everyone"],
  ["SVC_LOG_LEVEL", "loud"],
  ["SVC_NO_REPLY_HOST", "a b"],
])("an invalid %s is an error that names it", async (name, value) => {
  const result = await run({ ...settings("/nonexistent"), [name]: value }, []);
  expect([result.code, result.out]).toEqual([1, ""]);
  expect(result.err.trim().split("\n")).toHaveLength(1);
  expect(result.err).toStartWith(`svc-api: ${name} `);
  expect(result.err).not.toContain("hunter2");
});

test("a second server on the same data folder exits, and the first continues", async () => {
  const dataDir = usedFolder();
  const first = await start(settings(dataDir));
  const second = await run(settings(dataDir), []);
  expect(second).toMatchObject({
    code: 1,
    err: expect.stringContaining("Another svc-api is using the data folder"),
  });
  expect((await caller(first.url, "")("GET", "/v1/health", { token: null })).body).toEqual({
    status: "ok",
    service: "svc-api",
    version: expect.any(String),
    database: "embedded",
  });
  // The lock ends with its process, however that ends.
  first.child.kill("SIGKILL");
  await first.child.exited;
  await start(settings(dataDir));
});

const inUse = (port: number | string | undefined): string =>
  `svc-api: Another program already listens on port ${port} of 127.0.0.1. Stop it, or set SVC_PORT to another port.\n`;

test("a port in use is an error of one line", async () => {
  const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  undo.push(() => taken.stop(true));
  const result = await run({ ...settings(usedFolder()), SVC_PORT: String(taken.port) }, []);
  expect(result).toMatchObject({
    code: 1,
    err: inUse(taken.port),
  });
});

test("two servers never share a port", async () => {
  const first = await start(settings(usedFolder()));
  const port = new URL(first.url).port;
  const second = await run({ ...settings(usedFolder()), SVC_PORT: port }, []);
  expect([second.code, second.err]).toEqual([1, inUse(port)]);
});

test("rejects a master key that is not the database's", async () => {
  const env = settings(usedFolder());
  const result = await run({ ...env, SVC_MASTER_KEY: "ab".repeat(32) }, []);
  expect(result).toMatchObject({ code: 1, err: expect.stringContaining("created with another master key") });
});

test("rejects a schema newer than the binary with one line", async () => {
  const dataDir = usedFolder();
  const database = await openEmbedded(join(dataDir, "postgres"));
  await database.db.execute(
    sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('x', 99999999999999)`,
  );
  await database.close();
  const result = await run(settings(dataDir), []);
  expect(result.code).toBe(1);
  expect(result.err).toContain("migrated by a newer version of svc");
  expect(result.err.trim().split("\n")).toHaveLength(1);
});

describe("the end of a server", () => {
  async function withChangeRequest() {
    const remote = new Remote();
    undo.push(() => remote.remove());
    remote.commit("main", { a: "1\n" });
    remote.commit("work", { a: "2\n" }, { from: "main" });
    const env = settings(usedFolder());
    const token = (await run(env, ["admin", "token", "--email", "a@b.c"])).out.trim();
    const server = await start(env);
    const call = caller(server.url, token);
    const project = (await call("POST", "/v1/projects", { body: { name: "p", repo_url: remote.url } })).body;
    const path = `/v1/projects/${project.project_id}/change-requests`;
    return { remote, env, token, server, call, path };
  }

  test("SIGTERM: completes requests in progress, rejects new ones, then exits with 0", async () => {
    const { remote, server, call, path } = await withChangeRequest();
    await call("POST", path, { body: { title: "t", head_ref: "work" } });
    const reached = join(folder(), "reached");
    remote.hook("pre-receive", `touch '${reached}'; sleep 1`);
    const merging = call("POST", `${path}/1/merge`);
    await until("it is under way", () => existsSync(reached));
    server.child.kill("SIGTERM");
    expect((await merging).status).toBe(200);
    expect(await server.child.exited).toBe(0);
    await expect(call("GET", "/v1/health")).rejects.toThrow();
  });

  test("SIGKILL: loses nothing that was acknowledged", async () => {
    const { remote, env, token, server, call, path } = await withChangeRequest();
    const acknowledged: number[] = [];
    const heads = ["w1", "w2", "w3", "w4"];
    for (const head of heads) remote.branch(head, "work");
    const writers = heads.map(async (head_ref) => {
      for (;;) {
        const answer = await call("POST", path, { body: { title: "t", head_ref } }).catch(() => null);
        if (!answer) return;
        expect(answer.status).toBe(201);
        acknowledged.push(answer.body.number);
        await call("POST", `${path}/${answer.body.number}/close`).catch(() => null);
      }
    });
    await until("some are acknowledged", () => acknowledged.length > 20);
    server.child.kill("SIGKILL");
    await Promise.all(writers);
    const again = await start(env);
    const stored: number[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await caller(again.url, token)("GET", `${path}?limit=200${cursor}`);
      stored.push(...body.change_requests.map((cr: { number: number }) => cr.number));
      if (!body.next_cursor) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(acknowledged.filter((number) => !stored.includes(number))).toEqual([]);
    expect(new Set(stored).size).toBe(stored.length);
  });
});
