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

/** A data folder with a database; its token is from when no server had run on it. */
const used = makeFolder();
let earlier: string;
beforeAll(async () => {
  const made = await run(settings(used), ["admin", "token", "--email", "Me@Example.com"]);
  expect([made.code, made.err]).toEqual([0, ""]);
  expect(made.out).toMatch(/^svc_pat_[0-9A-Za-z]{43}\n$/);
  earlier = made.out.trim();
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

test.each([
  [["admin", "token"], 2, "--email"],
  [["admin", "link"], 2, "--email"],
  [["admin", "nope", "--email", "a@b.c"], 2, "admin nope"],
  [["admin", "token", "--mail", "x"], 2, "--mail"],
  [["serve"], 2, "serve"],
])("%p exits with %p", async (args, code, words) => refuses("/nonexistent", args, code, words));

async function refuses(dataDir: string, args: string[], code: number, words: string): Promise<void> {
  const result = await run(settings(dataDir), args);
  expect([result.code, result.out]).toEqual([code, ""]);
  expect(result.err).toContain(words);
  expect(result.err.trim().split("\n")).toHaveLength(1);
}

test("version and help", async () => {
  expect((await run({}, ["version"])).out).toMatch(/^svc-api \d+\.\d+\.\d+\n$/);
  expect((await run({}, ["--help"])).out).toContain("svc-api admin token");
});

test("an invalid setting is an error of one line that names it, and does not repeat it", async () => {
  const env = { ...settings("/nonexistent"), DATABASE_URL: "mysql://user:hunter2@host/db" };
  const result = await run(env, []);
  expect([result.code, result.out]).toEqual([1, ""]);
  expect(result.err.trim().split("\n")).toHaveLength(1);
  expect(result.err).toStartWith("svc-api: DATABASE_URL ");
  expect(result.err).not.toContain("hunter2");
});

describe("a server that runs", () => {
  const CREATED = "first password";
  let dataDir: string;
  let env: Record<string, string>;
  let server: Awaited<ReturnType<typeof spawnServer>>;
  beforeAll(async () => {
    dataDir = makeFolder();
    cpSync(used, dataDir, { recursive: true });
    env = settings(dataDir);
    const user = ["admin", "user", "--email", "new@b.c"];
    const created = { code: 0, out: "User created, password set.\n" };
    expect(await run(env, user, { stdin: `${CREATED}\n` })).toMatchObject(created);
    server = await spawnServer(SERVER, env);
  });
  afterAll(async () => {
    server?.child.kill("SIGKILL");
    await server?.child.exited;
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("svc-api admin creates tokens with and without it, for the same users", async () => {
    const during = await run(env, ["admin", "token", "--email", "me@example.com", "--name", "laptop"]);
    expect([during.code, during.err]).toEqual([0, ""]);
    const ids = [];
    for (const token of [earlier, during.out.trim()]) {
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

  test.each([
    [["admin", "link", "--email", "nope"], 1, "e-mail"],
    [["admin", "token", "--email", "nope"], 1, "e-mail"],
  ])("%p exits with %p", async (args, code, words) => refuses(dataDir, args, code, words));

  test("a second one on the same data folder exits, and the first continues", async () => {
    const second = await run(env, []);
    expect(second).toMatchObject({
      code: 1,
      err: expect.stringContaining("Another svc-api is using the data folder"),
    });
    expect((await caller(server.url, "")("GET", "/v1/health", { token: null })).body).toEqual({
      status: "ok",
      service: "svc-api",
      version: expect.any(String),
      database: "embedded",
    });
  });

  test("its port, as that of any program, is in use for another server, which says so in one line", async () => {
    using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const another = settings(usedFolder());
    for (const port of [String(other.port), new URL(server.url).port]) {
      const result = await run({ ...another, SVC_PORT: port }, []);
      expect([result.code, result.err]).toEqual([1, inUse(port)]);
    }
  });

  test("passwords come from standard input, and are stored as argon2id", async () => {
    const user = ["admin", "user", "--email", "me@example.com"];
    expect(await run(env, user, { stdin: "short\n" })).toMatchObject({ code: 1, out: "" });
    const set = { code: 0, out: "Password set.\n" };
    expect(await run(env, user, { stdin: "battery staple" })).toMatchObject(set);
    await server.stop();
    const database = await openEmbedded(join(dataDir, "postgres"));
    const stored = await database.db.select().from(users);
    await database.close();
    for (const [email, password] of [
      ["new@b.c", CREATED],
      ["me@example.com", "battery staple"],
    ] as const) {
      const { passwordHash } = stored.find((each) => each.email === email) ?? {};
      expect(passwordHash).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$");
      expect(await Bun.password.verify(password, passwordHash ?? "")).toBe(true);
    }
  });
});

const inUse = (port: string): string =>
  `svc-api: Another program already listens on port ${port} of 127.0.0.1. Stop it, or set SVC_PORT to another port.\n`;

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
    const server = await start(env);
    const call = caller(server.url, earlier);
    const project = (await call("POST", "/v1/projects", { body: { name: "p", repo_url: remote.url } })).body;
    const path = `/v1/projects/${project.project_id}/change-requests`;
    return { remote, env, server, call, path };
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
    const { remote, env, server, call, path } = await withChangeRequest();
    const acknowledged: number[] = [];
    const heads = ["w1", "w2", "w3", "w4"];
    for (const head of heads) remote.branch(head, "work");
    const writers = heads.map(async (head_ref) => {
      for (;;) {
        const answer = await call("POST", path, { body: { title: "t", head_ref } }).catch(() => null);
        if (!answer) return;
        // a slow machine may not get the branches of the repository in time for all writers
        if (answer.body.code === "repo_unreachable") continue;
        expect([answer.status, answer.body.code]).toEqual([201, undefined]);
        acknowledged.push(answer.body.number);
        await call("POST", `${path}/${answer.body.number}/close`).catch(() => null);
      }
    });
    await until("some are acknowledged", () => acknowledged.length > 20);
    server.child.kill("SIGKILL");
    await Promise.all(writers);
    await server.child.exited;
    // the lock of the data folder ends with its process, however that ends
    const again = await start(env);
    const stored: number[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await caller(again.url, earlier)("GET", `${path}?limit=200${cursor}`);
      stored.push(...body.change_requests.map((cr: { number: number }) => cr.number));
      if (!body.next_cursor) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(acknowledged.filter((number) => !stored.includes(number))).toEqual([]);
    expect(new Set(stored).size).toBe(stored.length);
  });
});
