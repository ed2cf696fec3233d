import { afterAll, beforeAll, expect } from "bun:test";
import http from "node:http";
import type { App, AppLogLine } from "../../src/contract/app.ts";
import { caller } from "../helpers/api.ts";
import {
  APP_PROGRAM,
  type AppBench,
  benchApps,
  entryOf,
  isLive,
  NODE_INSIDE,
  tomlOf,
} from "../helpers/apps.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { killAll } from "../helpers/processes.ts";
import { sample } from "../helpers/random.ts";
import { sendRaw } from "../helpers/raw-http.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres, and node below /usr", POSTGRES && NODE_INSIDE);

/** Apps that an account may run here at once. */
const CAP = 2;
/** Clients that ask all the time. */
const CLIENTS = 8;
/** A second place of the app: it is live once its health path returns a success. */
const DOCS = entryOf({ rootPath: "docs", health: { path: "/health" } });
const OTHER_DOCS = { ...DOCS, env: { A: "b" } };

let server: SessionServer;
let bench: AppBench;

beforeAll(async () => {
  if (!POSTGRES) return;
  server = await startSessionServer({ SVC_APP_CAP: String(CAP) });
  bench = benchApps({ ...server, call: ask });
  await bench.merge({ "server.js": APP_PROGRAM, "says.txt": "one", "docs/a.md": "a" }, [entryOf()]);
});
afterAll(() => server?.stop());

const ask = (method: string, path: string, body?: unknown) =>
  caller(server.url(), server.token)(method, path, body === undefined ? {} : { body });

/** The number of the deployment that is live. */
const live = async () => (await bench.get()).app.live?.number ?? 0;
const isLiveAt = (commit: string) => (app: App) => app.live?.commit === commit && app.next === null;

/** The lines of a deployment's log. */
async function logOf(deployment: number): Promise<[source: string, text: string][]> {
  const { body } = await bench.call("GET", `/web/logs?deployment=${deployment}`);
  return body.lines.map(({ source, text }: AppLogLine) => [source, text]);
}

/** The log has the output of the build once, and that of the program. */
async function hasOutputs(deployment: number): Promise<void> {
  const lines = await logOf(deployment);
  expect(lines.filter(([, text]) => text === "made-with-care")).toEqual([["build", "made-with-care"]]);
  expect(lines).toContainEqual(["run", expect.stringMatching(/^listening for /)]);
}

test("an app is deployed, and served to signed-in users", async () => {
  const { app, deployments } = await bench.becomes("the first is live", isLive(1));
  expect(app).toMatchObject({ slug: "web", type: "run", error: null, next: null });
  expect(deployments).toMatchObject([{ number: 1, state: "live", reason: "created", error: null }]);
  expect(app.url).toMatch(/^http:\/\/web--p\.localhost:\d+\/$/);
  expect((await bench.visit("/", await bench.signIn())).text).toEndWith("one");
});

test("its next version replaces it, with its variables and the project's secrets, and no credentials for svc", async () => {
  const audiences = {
    DATABASE_PASSWORD: ["apps:web"],
    OF_APPS: ["apps", "sessions"],
    OF_ANOTHER: ["apps:other"],
    OF_BUILDS: ["builds"],
    OF_SESSIONS: undefined,
    SIGNS: ["apps", "sessions", "builds", "triggers:hook"],
  };
  for (const [name, audience] of Object.entries(audiences)) {
    const body = { value: "hush", ...(audience && { for: audience }) };
    expect((await ask("PUT", `/v1/projects/${server.projectId}/secrets/${name}`, body)).status).toBe(200);
  }
  const hook = '[[triggers]]\nslug = "hook"\ntype = "webhook"\nprompt = "x"\nsecret_env = "SIGNS"\n';
  const variables = { GREETING: "hello", DATABASE_USER: "me" };
  await bench.merge({ "says.txt": "two" }, [entryOf({ env: variables, build: "env > built.txt" })], hook);
  const { app, deployments } = await bench.becomes("the second is live", isLive(2));
  expect(deployments).toMatchObject([
    { number: 2, state: "live", reason: "changed" },
    { number: 1, state: "retired" },
  ]);
  const signedIn = await bench.signIn();
  await until("the second answers", async () => (await bench.visit("/", signedIn)).text.endsWith("two"));
  const env = JSON.parse((await bench.visit("/env", signedIn)).text.split("\r\n\r\n")[1] ?? "");
  expect(env).toMatchObject({
    GREETING: "hello",
    DATABASE_USER: "me",
    DATABASE_PASSWORD: "hush",
    OF_APPS: "hush",
    HOST: "127.0.0.1",
    SVC_APP_SLUG: "web",
    SVC_APP_COMMIT: app.live?.commit,
  });
  for (const name of ["OF_ANOTHER", "OF_BUILDS", "OF_SESSIONS", "SIGNS"])
    expect(env).not.toHaveProperty(name);
  const built = (await bench.visit("/built", signedIn)).text;
  const secrets = built.split(/\r?\n/).filter((line) => line.endsWith("=hush"));
  expect(secrets.map((line) => line.split("=")[0]).sort()).toEqual(["OF_BUILDS", "OF_SESSIONS"]);
  expect(env.PORT).toMatch(/^\d+$/);
  const ours = Object.keys(env).filter((name) => name.startsWith("SVC_"));
  expect(ours.sort()).toEqual(["SVC_APP_COMMIT", "SVC_APP_SLUG", "SVC_SANDBOX"]);
  expect(JSON.stringify(env)).not.toMatch(/svc_(?:sb|pat|git)_/);
  // a sandbox has no token of the project either
  const { body } = await ask("GET", `/v1/projects/${server.projectId}/cli-token`);
  expect(body.tokens).toEqual([]);
});

test("an app gets the headers of a reverse proxy, and no cookie of svc", async () => {
  const signedIn = await bench.signIn();
  const answer = await bench.visit("/head", signedIn, [
    "X-Forwarded-Proto: gopher",
    "X-Svc-User-Context: x",
    "Authorization: Bearer svc_pat_secret",
    "X-Mine: yes",
  ]);
  const headers = JSON.parse(answer.text.split("\r\n\r\n")[1] ?? "");
  expect(headers).toMatchObject({
    host: signedIn.host,
    "x-forwarded-host": signedIn.host,
    "x-forwarded-proto": "http",
    "x-mine": "yes",
  });
  for (const name of ["cookie", "authorization", "x-svc-user-context"])
    expect(headers).not.toHaveProperty(name);
});

test("WebSockets and event streams pass", async () => {
  const { host, cookie } = await bench.signIn();
  const head = [
    "GET /socket HTTP/1.1",
    `Host: ${host}`,
    `Cookie: ${cookie}`,
    `Origin: http://${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  const socket = await sendRaw(server.url(), `${head.join("\r\n")}\r\n\r\n`);
  expect(socket.status).toBe(101);
  expect(socket.text).toMatch(/\x81\x03(?:one|two)$/);
  const stream = await bench.visit("/events", { host, cookie });
  expect(stream.text).toMatch(/text\/event-stream[\s\S]*data: (?:one|two)/);
});

test("rejects visitors who are not signed in or no longer members, and unknown names", async () => {
  const { host, cookie } = await bench.signIn();
  const refused = await bench.visit("/", { host, cookie: "a=b" });
  expect(refused.status).toBe(401);
  const unknown = await bench.visit("/", { host: host.replace("web--", "other--"), cookie: "a=b" });
  expect(unknown.status).toBe(401);
  // a cookie of another app's, or of another name, opens nothing
  const other = await bench.visit("/", { host: host.replace("web--", "other--"), cookie });
  expect(other.status).toBe(401);
  const foreign = await bench.visit("/", { host, cookie }, ["Origin: https://evil.example"], "POST");
  expect(foreign.status).toBe(403);
});

/** How a program fails has a suite of its own (`test/daemon/app`), so each run draws one way. */
const BROKEN = [
  ["its build fails", { build: "echo on-the-way; exit 7" }, /build failed with exit status 7/, "on-the-way"],
  ...sample(1, [
    [
      "it ends at once",
      { run: { command: "echo oh-no; exit 4", port: 3000 } },
      /ended with exit status 4/,
      "oh-no",
    ],
    [
      "it is not healthy",
      {
        health: { path: "/health" },
        env: { HEALTH_STATUS: "404" },
        run: { command: "node server.js & sleep 1; kill $!; exit 5", port: 3000 },
      },
      /returns status 404 for \/health|ended with exit status 5/,
      null,
    ],
  ] as const),
  [
    "it has no folder",
    { rootPath: "nowhere" },
    /^The folder nowhere, the app's root_path, does not exist in the commit/,
    null,
  ],
] as const;

test.each(BROKEN.map((row) => [row[0], row] as const))(
  "a version that cannot be served gets no traffic, and the one before stays live: %s",
  async (_, [, change, error, said]) => {
    const number = await live();
    const commit = await bench.merge({ "says.txt": "broken" }, [entryOf(change)]);
    const { app, deployments } = await bench.becomes(
      "it has failed",
      (_app, [last]) => last?.state === "failed" && last.commit === commit,
    );
    expect(app).toMatchObject({ state: "live", live: { number } });
    expect(app.error).toMatch(error);
    expect(deployments[0]?.error).toMatch(error);
    const signedIn = await bench.signIn();
    expect((await bench.visit("/", signedIn)).text).toEndWith("two");
    if (said !== null) {
      const { body } = await bench.call("GET", "/web/logs");
      expect(body.lines.map(({ text }: { text: string }) => text)).toContain(said);
    }
  },
);

test("no request on a kept-alive connection fails while the next version takes over", async () => {
  const { host, cookie } = await bench.signIn();
  // just before it is live: clients that ask for as long as it takes to start would ask a thousand times
  const isReady = server.haltAt("runtime-ready");
  const commit = await bench.merge({ "says.txt": "next" }, [entryOf()]);
  await isReady;
  const slow = bench.visit("/slow", { host, cookie });
  const agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS });
  const { hostname, port } = new URL(server.url());
  const answers = new Map<string, number>();
  let isOver = false;
  const ask = async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const options = { agent, hostname, port, path: "/", headers: { Host: host, Cookie: cookie } };
    const request = http.get(options, (answer) => {
      let text = "";
      answer.on("data", (piece) => {
        text += piece;
      });
      answer.on("end", () => resolve(answer.statusCode === 200 ? text : `status ${answer.statusCode}`));
      answer.on("error", (error) => resolve(error.message));
    });
    request.on("error", (error) => resolve(error.message));
    const said = await promise;
    answers.set(said, (answers.get(said) ?? 0) + 1);
  };
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) await ask();
  });
  await until("the one before answers", () => (answers.get("two") ?? 0) > 10 * CLIENTS);
  server.go();
  await until("the next answers", () => (answers.get("next") ?? 0) > 10 * CLIENTS);
  isOver = true;
  await Promise.all(clients);
  agent.destroy();
  expect([...answers.keys()]).toEqual(["two", "next"]);
  await bench.becomes("the next is live", isLiveAt(commit));
  expect((await slow).status).toBe(200);
});

test("a push and a deploy at once deploy what was pushed, with its entry", async () => {
  const entry = tomlOf(entryOf({ env: { PUSHED: "yes" } }));
  // svc is not notified of it
  const commit = bench.remote.commit("main", {
    "says.txt": "pushed",
    "svc.toml": `svc_version = 1\n${entry}`,
  });
  const { status, body } = await bench.call("POST", "/web/deploy");
  expect(status).toBe(202);
  expect(body.next).toMatchObject({ commit });
  const { deployments } = await bench.becomes(
    "it is live",
    ({ live, next }) => live?.commit === commit && !next,
  );
  // the poll and the request are one deployment
  expect(deployments.filter((each) => each.commit === commit)).toHaveLength(1);
  const answer = (await bench.visit("/env", await bench.signIn())).text;
  expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ PUSHED: "yes" });
});

test("a newer deployment replaces one that is in progress", async () => {
  const number = await live();
  await bench.merge({}, [entryOf({ build: "sleep 60" })]);
  await bench.becomes("it is being built", ({ next }) => next?.number === number + 1);
  await bench.merge({ "says.txt": "one" }, [entryOf({ build: "echo made-with-care" })]);
  const { deployments } = await bench.becomes("the newer is live", isLive(number + 2));
  expect(deployments[1]).toMatchObject({ number: number + 1, state: "stopped" });
  expect(deployments[1]?.error).toContain(`Deployment ${number + 2} replaced it`);
});

test("a stopped app stays so until it is deployed; a disabled or invalid entry has a state and an error", async () => {
  const number = await live();
  const signedIn = await bench.signIn();
  const page = () => bench.visit("/", signedIn, ["Accept: text/html"]);
  await hasOutputs(number);
  expect((await bench.call("POST", "/web/stop")).status).toBe(202);
  await until("nothing answers", async () => (await page()).status === 503);
  expect((await page()).text).toContain("The app is stopped");
  await until("it has ended", async () =>
    (await logOf(number)).some(([, text]) => text === "The app has stopped."),
  );
  await hasOutputs(number);
  await bench.follows(await bench.merge({ "says.txt": "two" }, [entryOf()]));
  expect((await bench.get()).app.state).toBe("stopped");
  expect((await bench.call("POST", "/web/deploy")).status).toBe(202);
  const again = await bench.becomes("it is live again", isLive(number + 1));
  expect(again.deployments[0]).toMatchObject({ reason: "asked" });
  expect(again.deployments[0]?.created_by).not.toBeNull();

  // a slip does not take an app down
  await bench.follows(await bench.merge({}, [], "[[apps]]\nslug = 7\n"));
  expect((await bench.get()).app.state).toBe("live");
  await bench.merge({}, [entryOf({ enabled: false })]);
  await bench.becomes("it is disabled", ({ state }) => state === "disabled");
  expect((await bench.call("POST", "/web/deploy")).body.code).toBe("app_disabled");
  await until("nothing answers", async () => (await page()).status === 503);
  await bench.merge({}, []);
  await until("it is gone", async () => (await bench.call("GET", "/web")).status === 404);
  expect((await page()).status).toBe(503);
  await bench.merge({ "docs/server.js": APP_PROGRAM, "docs/says.txt": "docs" }, [DOCS]);
  await bench.becomes("it is there again", isLive(number + 2));
});

test("only a change of the entry, or below its root, deploys an app again", async () => {
  const { live: first } = (await bench.get()).app;
  await bench.follows(await bench.merge({ "elsewhere.txt": "x" }, [DOCS], "# more\n"));
  expect((await bench.get()).app).toMatchObject({ live: { commit: first?.commit }, next: null });
  const second = await bench.merge({ "docs/says.txt": "more" }, [DOCS]);
  const { app } = await bench.becomes("the change is live", isLiveAt(second));
  // none was between them
  expect(app.live?.number).toBe((first?.number ?? 0) + 1);
  const third = await bench.merge({}, [OTHER_DOCS]);
  await bench.becomes("the other entry is live", isLiveAt(third));
});

test("deployments are not sessions, and have their own cap", async () => {
  const { app } = await bench.get();
  expect((await server.call("GET", "")).body.sessions).toEqual([]);
  const id = app.live?.deployment_id ?? "";
  for (const [method, path] of [
    ["GET", ""],
    ["PATCH", ""],
    ["DELETE", ""],
    ["POST", "/stop"],
    ["POST", "/restart"],
    ["POST", "/preview"],
    ["GET", "/logs"],
  ] as const) {
    const body = method === "PATCH" ? { name: "x" } : undefined;
    expect((await server.call(method, `/${id}${path}`, body)).status).toBe(404);
  }
  expect((await ask("GET", `/v1/p/${id}/8000/svc/health`)).status).toBe(404);
  const more = ["b", "c"].map((slug) => entryOf({ slug }));
  await bench.merge({}, [OTHER_DOCS, ...more]);
  const states = async () =>
    (await bench.call("GET", "")).body.apps.map(({ state }: { state: string }) => state);
  await until(
    "as many are live as may be",
    async () => (await states()).filter((s: string) => s === "live").length === CAP,
  );
  await until("the other has failed", async () => (await states()).includes("failed"));
  const { body } = await bench.call("GET", "");
  const failed = body.apps.find(({ state }: { state: string }) => state === "failed");
  expect(failed.error).toContain(`its limit is ${CAP}.`);
  const { live } = body.apps.find(({ slug, state }: App) => slug !== "web" && state === "live");
  expect(server.processes(live.deployment_id).length).toBeGreaterThan(0);
  await bench.merge({}, [OTHER_DOCS]);
  await until(
    "what is no longer in the manifest has ended",
    () => server.processes(live.deployment_id).length === 0,
  );
});

test("an app whose sandbox dies is restarted automatically", async () => {
  const { app } = await bench.get();
  const signedIn = await bench.signIn();
  killAll(server.processes(app.live?.deployment_id ?? ""));
  await bench.becomes("it is noticed", ({ state }) => state === "down");
  expect((await bench.visit("/", signedIn, ["Accept: text/html"])).text).toContain(
    "This page reloads automatically",
  );
  await bench.becomes("it is live again", ({ state }) => state === "live");
  await until("it answers", async () => (await bench.visit("/", signedIn)).status === 200);
});

test("the problem of an app whose health path returns an error is shown, and it is restarted", async () => {
  expect((await bench.call("GET", "/web")).body.problem).toBeNull();
  const signedIn = await bench.signIn();
  await bench.visit("/sicken", signedIn);
  // it is checked every 15 seconds, and then restarted
  await until("its problem is shown", async () =>
    (await bench.call("GET", "/web")).body.problem?.includes("returns status 503 for /health"),
  );
  await until("it is healthy again", async () => (await bench.call("GET", "/web")).body.problem === null);
  expect((await bench.visit("/", signedIn)).status).toBe(200);
});

test("a program that exits is restarted in its sandbox", async () => {
  const signedIn = await bench.signIn();
  await bench.visit("/die", signedIn).catch(() => {});
  await until("it answers again", async () => (await bench.visit("/", signedIn)).status === 200);
});
