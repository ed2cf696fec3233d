import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readRecord } from "../../cli/commands/demo/record.ts";
import { COMMENT } from "../../cli/commands/demo/sample.ts";
import { summaryOf } from "../../cli/commands/demo/stage.ts";
import { run } from "../../cli/run.ts";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { TOKEN_USER } from "../../src/contract/token.ts";
import { SandboxError } from "../../src/sandboxes/provider.ts";
import { caller } from "../helpers/api.ts";
import { comment } from "../helpers/cli-api.ts";
import { expectDocumentedFields } from "../helpers/cli-fields.ts";
import { cliEnv, fakeSystem, makeHome, svcOnTerminal } from "../helpers/cli-run.ts";
import { scratch } from "../helpers/gateway.ts";
import { sample } from "../helpers/random.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import type { StandIn } from "../helpers/stand-in-provider.ts";

/** The real server with stand-in sandboxes, whose agent does what the script does, and no more. */
let bench: SessionBench;
beforeAll(async () => {
  bench = await startSessions();
});
afterAll(() => bench.stop());
afterEach(() => {
  bench.provider.onStart = () => {};
  agent = works;
});

const ANSWERED = { state: "answered", error: null } as const;
type Outcome = { state: "answered" | "failed"; error: string | null };
/** What an agent makes of a prompt. */
type Agent = (text: string, session: AsSession) => Promise<Outcome>;
let agent: Agent = works;

async function works(text: string, session: AsSession): Promise<Outcome> {
  if (!text.startsWith("Reviewers")) {
    await session.push("</h1>", '</h1>\n<p id="greeting"></p>\n<script src="greeting.js"></script>');
    await session.call("POST", "/change-requests", {
      title: "Greet the visitors",
      head_ref: session.id,
      session_id: session.id,
    });
    return ANSWERED;
  }
  await session.push("<h1>Hello<", "<h1>Another<");
  const [, comment_id] = /^> Comment (\S+)/m.exec(text) ?? [];
  await session.call("POST", "/change-requests/1/comments", { body: "Done.", reply_to: comment_id });
  return ANSWERED;
}

/** The server and the repository, with the token of a session. */
interface AsSession {
  id: string;
  push(from: string, to: string): Promise<void>;
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

async function asSession({ environment, spec }: StandIn): Promise<AsSession> {
  const { SVC_CLI_TOKEN: token = "", SVC_PROJECT_ID: project } = environment;
  const request = caller(bench.api.url, token);
  const call: AsSession["call"] = async (method, path, body) => {
    const answer = await request(
      method,
      `/v1/projects/${project}${path}`,
      body === undefined ? {} : { body },
    );
    if (answer.status >= 400) throw new Error(answer.text);
    return answer.body;
  };
  const { auth } = Object(await call("GET", "/git/clone-credential"));
  const url = bench.api.url.replace("//", `//${TOKEN_USER}:${auth.token}@`);
  return {
    id: spec.sessionId,
    call,
    async push(from, to) {
      using folder = scratch();
      await git([
        "clone",
        "--quiet",
        "--branch",
        spec.sessionId,
        `${url}/v1/git/${project}.git`,
        folder.path,
      ]);
      const page = join(folder.path, "site/index.html");
      writeFileSync(page, readFileSync(page, "utf8").replace(from, to));
      await git(["-C", folder.path, "commit", "--quiet", "--all", "--message=Work"]);
      await git(["-C", folder.path, "push", "--quiet", "origin", "HEAD"]);
    },
  };
}

/** The server of the test runs in this process, so nothing may block it. */
async function git(args: string[]): Promise<void> {
  const child = Bun.spawn(["git", ...args], { env: GIT_ENVIRONMENT, stdio: ["ignore", "ignore", "pipe"] });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`git ${args[0]}: ${said}`);
}

beforeAll(() => {
  const outcomes = new Map<string, Promise<Outcome>>();
  bench.provider.onPrompt = async ({ prompt_id, text }, standIn) => {
    const known = outcomes.get(prompt_id) ?? asSession(standIn).then((session) => agent(text, session));
    outcomes.set(prompt_id, known);
    return known;
  };
});

type Home = ReturnType<typeof makeHome>;

function someone(host = "team"): Home {
  const home = makeHome();
  mkdirSync(dirname(home.config), { recursive: true });
  const hosts = { [host]: { url: `${bench.api.url}/v1`, token: bench.api.token } };
  writeFileSync(home.config, JSON.stringify({ active: host, hosts }), { mode: 0o600 });
  return home;
}

/** Requests that change something, of which only the first `writes` are sent, as if svc were killed then. */
interface Death {
  writes: number;
  /** Whether the last response arrives. */
  hears: boolean;
}

/** Runs `svc demo` in this process. */
async function demo(home: Home, args: readonly string[] = ["--yes"], death?: Death) {
  let left = death?.writes ?? Number.POSITIVE_INFINITY;
  let isDead = false;
  const system = fakeSystem({
    env: cliEnv(home.home),
    cwd: home.cwd,
    async fetch(url, init) {
      const isWrite = (init.method ?? "GET") !== "GET";
      if (isWrite && left === 0) isDead = true;
      if (isDead) throw new TypeError("killed");
      const answer = await fetch(url, init);
      if (isWrite && --left === 0 && !death?.hears) isDead = true;
      if (isDead) throw new TypeError("killed");
      return answer;
    },
  });
  const code = await run(system, ["demo", ...args, "--json"]);
  if (code === 0) expectDocumentedFields(["demo"], system.out());
  return { code, isDead, out: parse(system.out()), error: parse(system.err())?.error };
}

const parse = (text: string) => (text === "" ? null : JSON.parse(text));
const recordOf = (home: Home) => join(dirname(home.config), "demo-team.json");
const call = async (method: string, path: string) => (await bench.api.call(method, `/v1${path}`)).body;

/** What the server has of a project: each of these exists once. */
async function countsOf(project: string): Promise<Record<string, number>> {
  const of = async (path: string, key: string) =>
    (await call("GET", `/projects/${project}${path}`))[key].length;
  return {
    sessions: await of("/sessions", "sessions"),
    crs: await of("/change-requests?status=all", "change_requests"),
    comments: await of("/change-requests/1/comments", "comments"),
    commits: await of("/commits", "commits"),
  };
}

const demos = async (): Promise<string[]> =>
  (await call("GET", "/projects?limit=200")).projects
    .map(({ name }: { name: string }) => name)
    .filter((name: string) => name.startsWith("Demo"));

test.each(sample(1, [true, false]))(
  "killed after each request (response received: %p), it continues, and takes each step once",
  async (hears) => {
    const home = someone();
    // project, session, comment, sending, merge
    for (let request = 1; request <= 5; request++)
      expect(await demo(home, ["--yes"], { writes: 1, hears })).toMatchObject({ isDead: true });
    const done = await demo(home);
    expect(done.out).toMatchObject({ cr_number: 1, heading: "Another" });
    expect(await countsOf(done.out.project_id)).toEqual({ sessions: 1, crs: 1, comments: 2, commits: 3 });
    // complete: it only shows the app again
    expect((await demo(home)).out).toEqual(done.out);
    expect(await countsOf(done.out.project_id)).toEqual({ sessions: 1, crs: 1, comments: 2, commits: 3 });
    expect((await demo(home, ["--clean", "--yes"])).out).toMatchObject({ deleted: true });
    expect(await demos()).toEqual([]);
  },
);

/** Before the project, after it, and with its session. */
const ENDS = [
  [0, false],
  ...sample(1, [[1, false] as const, [1, true] as const]),
  ...sample(1, [[2, false] as const, [3, false] as const]),
] as const;
test.each(ENDS)(
  "--clean after a kill at request %p deletes the demo, and no project of the same kind",
  async (writes, hears) => {
    const home = someone();
    const mine = await bench.api.call("POST", "/v1/projects", { body: { name: "Demo 000000000000" } });
    expect(await demo(home, ["--yes"], { writes, hears })).toMatchObject({ code: 1 });
    expect(existsSync(recordOf(home))).toBe(true);
    const cleaned = await demo(home, ["--clean", "--yes"]);
    expect(cleaned).toMatchObject({ code: 0, out: { deleted: writes > 0 } });
    expect(await demos()).toEqual(["Demo 000000000000"]);
    expect([...bench.provider.sandboxes.keys()]).toEqual([]);
    expect(existsSync(recordOf(home))).toBe(false);
    await call("DELETE", `/projects/${mine.body.project_id}`);
  },
);

test("without the runtime, names the command that installs it; then it continues", async () => {
  const home = someone();
  bench.provider.onStart = () => {
    throw new SandboxError("The agent runtime is not installed on the server.", { permanent: true });
  };
  const { code, error } = await demo(home);
  expect([code, error.code]).toEqual([1, "runtime_missing"]);
  expect(error.hint).toContain("svc-api runtime install");
  // svc-api by itself would install it into another data folder than that of `svc self-host`
  expect((await demo(someone("selfhost"))).error.hint).toStartWith(
    "Run: svc self-host start --install-runtime\n",
  );
  bench.provider.onStart = () => {
    throw new SandboxError("bubblewrap is missing", { permanent: true });
  };
  const failed = await demo(home);
  expect(failed.error).toMatchObject({
    code: "session_failed",
    message: expect.stringContaining("bubblewrap"),
  });
  expect(failed.error.hint).toEndWith("To continue the demo: svc demo");
  bench.provider.onStart = () => {};
  expect(await demo(home)).toMatchObject({ code: 0 });
  await demo(home, ["--clean", "--yes"]);
});

test("says when the agent fails, and tries its task again", async () => {
  const home = someone();
  agent = async () => ({ state: "failed", error: "no reason" });
  expect((await demo(home)).error).toMatchObject({
    code: "demo_failed",
    message: expect.stringContaining("no reason"),
  });
  agent = works;
  expect(await demo(home)).toMatchObject({ code: 0 });
  await demo(home, ["--clean", "--yes"]);
});

test("ends when nothing comes of a step; says what to do with a closed change request and a deleted session", async () => {
  const home = someone();
  agent = async (text, session) => (text.startsWith("Reviewers") ? ANSWERED : works(text, session));
  expect((await demo(home)).error).toMatchObject({ code: "demo_stuck" });
  const { project_id, session_id } = (await readRecord(recordOf(home))) ?? {};
  await call("POST", `/projects/${project_id}/change-requests/1/close`);
  expect((await demo(home)).error).toMatchObject({
    code: "not_open",
    message: expect.stringContaining("#1"),
  });
  await call("POST", `/projects/${project_id}/change-requests/1/reopen`);
  await call("DELETE", `/projects/${project_id}/sessions/${session_id}`);
  expect((await demo(home)).error.message).toContain("session of the demo was deleted");
  // a project that was deleted elsewhere is not missed
  await call("DELETE", `/projects/${project_id}`);
  agent = works;
  expect(await demo(home)).toMatchObject({ code: 0 });
  await demo(home, ["--clean", "--yes"]);
});

test("on a terminal: a person leaves at the comment, continues, comments, and declines and confirms the merge", async () => {
  const home = someone();
  const env = { SVC_BROWSER: "true" };
  const first = svcOnTerminal(["demo"], { home, env });
  await first.shows("Your comment.");
  first.type("\x03");
  expect(await first.exited).toEqual({ code: 1, signal: null });
  expect(first.screen()).toContain("To continue the demo: svc demo.");

  const second = svcOnTerminal(["demo"], { home, env });
  await second.shows("Your comment.");
  second.type(" Please.\r");
  await second.shows("Merge change request #1?");
  second.type("n");
  expect(await second.exited).toEqual({ code: 1, signal: null });
  expect(second.screen()).toContain("Nothing was merged.");
  const { project_id } = (await readRecord(recordOf(home))) ?? {};
  const { comments } = await call("GET", `/projects/${project_id}/change-requests/1/comments`);
  expect(comments[0]).toMatchObject({ body: `${COMMENT} Please.`, path: "site/index.html", line: 12 });

  const third = svcOnTerminal(["demo"], { home, env });
  await third.shows("Merge change request #1?");
  third.type("\r");
  await third.shows('the app says "Another"');
  expect(await third.exited).toEqual({ code: 0, signal: null });
  await demo(home, ["--clean", "--yes"]);
});

test("without a comment, it merges without a review; steps in the dashboard move it on", async () => {
  const home = someone();
  const terminal = svcOnTerminal(["demo"], { home, env: { SVC_BROWSER: "true" } });
  await terminal.shows("Your comment.");
  terminal.type("\x15\r");
  await terminal.shows("Merge change request #1?");
  const { project_id } = (await readRecord(recordOf(home))) ?? {};
  await call("POST", `/projects/${project_id}/change-requests/1/merge`);
  await terminal.shows("This step was taken elsewhere");
  await terminal.shows('the app says "Hello"');
  expect(await terminal.exited).toEqual({ code: 0, signal: null });
  await demo(home, ["--clean", "--yes"]);
});

test("needs a terminal or --yes, is not for sandboxes, and has nothing to clean at first", async () => {
  const home = someone();
  for (const args of [[], ["--clean"]]) expect(await demo(home, args)).toMatchObject({ code: 2 });
  expect(existsSync(recordOf(home))).toBe(false);
  expect((await demo(home, ["--clean", "--yes"])).out).toMatchObject({ deleted: false });
  const env = { ...cliEnv(home.home), SVC_SESSION_ID: "x", SVC_CLI_TOKEN: "x" };
  expect(await run(fakeSystem({ env, cwd: home.cwd }), ["demo", "--yes"])).toBe(2);
});

test("a record that is not one is an error that names the file, and deletes nothing", async () => {
  const home = someone();
  const session = "55555555-5555-4555-8555-000000000001";
  for (const text of [
    "",
    "{}",
    JSON.stringify({ name: "Shop", project_id: bench.projectId, session_id: session }),
    JSON.stringify({ name: "Demo 0123456789ab", project_id: "../..", session_id: session }),
    JSON.stringify({ name: "Demo 0123456789ab", project_id: null, session_id: "x" }),
  ]) {
    writeFileSync(recordOf(home), text);
    const { code, error } = await demo(home, ["--clean", "--yes"]);
    expect([code, error.message]).toEqual([1, expect.stringContaining(recordOf(home))]);
  }
  expect(await call("GET", `/projects/${bench.projectId}`)).toMatchObject({ project_id: bench.projectId });
});

const [AT_1, AT_2] = ["2026-11-20T10:00:01.000Z", "2026-11-20T10:00:02.000Z"];
const agents = { ...comment().author, kind: "agent" } as const;
const first = comment({ comment_id: "a", created_at: AT_1 });
const reply = comment({ comment_id: "b", reply_to: "a", author: agents, created_at: AT_2 });

test.each([
  ["no comment", [], null, false],
  ["a comment", [first], AT_1, false],
  ["a comment with the agent's reply", [first, reply], null, true],
  [
    "a reply to the agent's reply",
    [first, reply, { ...first, comment_id: "c", reply_to: "a", created_at: AT_2 }],
    AT_2,
    true,
  ],
  [
    "two comments, one without a reply",
    [first, reply, { ...first, comment_id: "c", created_at: AT_2 }],
    AT_2,
    true,
  ],
  ["a resolved comment", [{ ...first, resolved_at: AT_2 }], null, false],
  ["a comment of the agent's", [{ ...first, author: agents }], null, false],
])("what a review waits for: %s", (_, comments, unanswered, wasReviewed) => {
  expect(summaryOf(comments)).toEqual({ unanswered, wasReviewed });
});
