import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { sql } from "drizzle-orm";
import { openEmbedded } from "../../db/client.ts";
import { users } from "../../db/schema/index.ts";
import {
  AGAINST_BINARIES,
  type Api,
  caller,
  cleanEnvironment,
  makeFolder,
  spawnServer,
} from "../helpers/api.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const SERVER = AGAINST_BINARIES ? [resolve("dist/svc-api")] : [process.execPath, resolve("src/main.ts")];

/** The data folder of the one server: each test begins with the state that the one before left. */
const dataDir = makeFolder();
/** A token from when no server had run on it. */
let earlier: string;
beforeAll(async () => {
  const made = await run(settings(dataDir), ["admin", "token", "--email", "Me@Example.com"]);
  expect([made.code, made.err]).toEqual([0, ""]);
  expect(made.out).toMatch(/^svc_pat_[0-9A-Za-z]{43}\n$/);
  earlier = made.out.trim();
});

/** Undone after the tests, the newest first. */
const undo: (() => unknown)[] = [() => rmSync(dataDir, { recursive: true, force: true })];
afterAll(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function folder(): string {
  const path = makeFolder();
  undo.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function settings(dataDir: string): Record<string, string> {
  return { SVC_PORT: "0", SVC_DATA_DIR: dataDir, SVC_ALLOW_PRIVATE_REPOS: "1", SVC_LOG_LEVEL: "silent" };
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

const wrong: [args: string[], code: number, words: string][] = [
  [["admin", "token"], 2, "--email"],
  [["admin", "link"], 2, "--email"],
  [["admin", "nope", "--email", "a@b.c"], 2, "admin nope"],
  [["admin", "token", "--mail", "x"], 2, "--mail"],
  [["serve"], 2, "serve"],
];
test.each(sample(2, wrong))("%p exits with %p", async (args, code, words) =>
  refuses("/nonexistent", args, code, words),
);

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
  const env = settings(dataDir);
  let server: Awaited<ReturnType<typeof spawnServer>>;
  let remote: Remote;
  /** The change requests of its project. */
  let path: string;
  const call: Api["call"] = (...request) => caller(server.url, earlier)(...request);

  beforeAll(async () => {
    server = await spawnServer(SERVER, env);
    undo.push(async () => {
      server.child.kill("SIGKILL");
      await server.child.exited;
    });
    remote = new Remote();
    undo.push(() => remote.remove());
    remote.commit("main", { a: "1\n" });
    remote.commit("work", { a: "2\n" }, { from: "main" });
    const made = await call("POST", "/v1/projects", { body: { name: "p", repo_url: remote.url } });
    path = `/v1/projects/${made.body.project_id}/change-requests`;
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

  test.each(sample(1, ["link", "token"]))("admin %s without an e-mail address exits with 1", async (verb) =>
    refuses(dataDir, ["admin", verb, "--email", "nope"], 1, "e-mail"),
  );

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
    const database = POSTGRES ? await createDatabase() : null;
    const another = { ...settings(folder()), ...(database && { DATABASE_URL: database.url }) };
    for (const port of sample(1, [String(other.port), new URL(server.url).port])) {
      const result = await run({ ...another, SVC_PORT: port }, []);
      expect([result.code, result.err]).toEqual([1, inUse(port)]);
    }
    await database?.drop();
  });

  const PASSWORDS = [
    ["new@b.c", "first password", "User created, password set.\n"],
    ["me@example.com", "battery staple", "Password set.\n"],
  ] as const;

  test("passwords come from standard input, and may end with a newline", async () => {
    const user = (email: string) => ["admin", "user", "--email", email];
    expect(await run(env, user("me@example.com"), { stdin: "short\n" })).toMatchObject({ code: 1, out: "" });
    for (const [email, password, out] of PASSWORDS) {
      const stdin = email === "new@b.c" ? `${password}\n` : password;
      expect(await run(env, user(email), { stdin })).toMatchObject({ code: 0, out });
    }
  });

  test("SIGKILL: loses nothing that was acknowledged", async () => {
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
    await until("some are acknowledged", () => acknowledged.length > 8);
    server.child.kill("SIGKILL");
    await Promise.all(writers);
    await server.child.exited;
    // the lock of the data folder ends with its process, however that ends
    server = await spawnServer(SERVER, env);
    const stored: number[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await call("GET", `${path}?limit=200${cursor}`);
      stored.push(...body.change_requests.map((cr: { number: number }) => cr.number));
      if (!body.next_cursor) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(acknowledged.filter((number) => !stored.includes(number))).toEqual([]);
    expect(new Set(stored).size).toBe(stored.length);
  });

  test("SIGTERM: completes requests in progress, rejects new ones, then exits with 0", async () => {
    const { number } = (await call("POST", path, { body: { title: "t", head_ref: "work" } })).body;
    const reached = join(folder(), "reached");
    remote.hook("pre-receive", `touch '${reached}'; sleep 1`);
    const merging = call("POST", `${path}/${number}/merge`);
    await until("it is under way", () => existsSync(reached));
    server.child.kill("SIGTERM");
    expect((await merging).status).toBe(200);
    expect(await server.child.exited).toBe(0);
    await expect(call("GET", "/v1/health")).rejects.toThrow();
  });

  test("rejects a master key that is not the database's", async () => {
    const result = await run({ ...env, SVC_MASTER_KEY: "ab".repeat(32) }, []);
    expect(result).toMatchObject({
      code: 1,
      err: expect.stringContaining("created with another master key"),
    });
  });

  test("has stored passwords as argon2id; rejects a schema newer than the binary with one line", async () => {
    const database = await openEmbedded(join(dataDir, "postgres"));
    const stored = await database.db.select().from(users);
    await database.db.execute(
      sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('x', 99999999999999)`,
    );
    await database.close();
    for (const [email, password] of PASSWORDS) {
      const { passwordHash } = stored.find((each) => each.email === email) ?? {};
      expect(passwordHash).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$");
      expect(await Bun.password.verify(password, passwordHash ?? "")).toBe(true);
    }
    const result = await run(env, []);
    expect(result.code).toBe(1);
    expect(result.err).toContain("migrated by a newer version of svc");
    expect(result.err.trim().split("\n")).toHaveLength(1);
  });
});

const inUse = (port: string): string =>
  `svc-api: Another program already listens on port ${port} of 127.0.0.1. Stop it, or set SVC_PORT to another port.\n`;
