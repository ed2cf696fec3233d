import { afterAll, beforeAll, expect } from "bun:test";
import postgres from "postgres";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { untilStored } from "../helpers/sessions.ts";
import { cron, startTriggers, type TriggerBench } from "../helpers/triggers.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
let svc: TriggerBench;
let sql: postgres.Sql;
/** Of the owner, who holds MINE for the project, and of a member, who holds THEIRS. */
let owner: string;
let member: string;
let accountId: string;
/** A second project of the account, with which nobody shares a secret. */
let other: string;

const APP =
  '[[apps]]\nslug = "shop"\nbuild = { command = "true" }\nrun = { command = "true", port = 3000 }\n';

beforeAll(async () => {
  if (!POSTGRES) return;
  svc = await startTriggers("2026-03-01T12:00:00Z", { env: { SVC_SESSION_CAP: "100" } });
  sql = postgres(svc.api.databaseUrl ?? "", { max: 1, onnotice() {} });
  owner = svc.api.token;
  accountId = (await svc.api.call("GET", `/v1/projects/${svc.projectId}`)).body.account_id;
  member = await joined("member@example.com");
  other = (await svc.api.project(svc.remote.url, { name: "Other" })).project_id;
  for (const projectId of [svc.projectId, other])
    for (const name of ["SHARED", "MINE"])
      await svc.api.call("PUT", `/v1/projects/${projectId}/secrets/${name}`, {
        body: { value: `${name} of the project`, for: ["sessions", "builds", "apps"] },
      });
  await hold(owner, "MINE", "mine of the owner");
  await hold(owner, "UNSHARED", "for no project", null);
  await hold(member, "THEIRS", "theirs of the member");
  await svc.have(cron("nightly", "0 0 1 1 *"), APP);
});
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await svc?.stop();
});

async function joined(email: string): Promise<string> {
  const token = await svc.api.mint(email);
  await sql`insert into account_members (account_id, user_id, role)
    select ${accountId}, user_id, 'member' from users where email = ${email}`;
  return token;
}

async function call(token: string, method: string, path: string, body?: unknown) {
  const answer = await svc.api.call(method, `/v1${path}`, { token, ...(body !== undefined && { body }) });
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.body;
}

/** Holds a secret, for the project unless it is null. */
async function hold(token: string, name: string, value: string, project: string | null = svc.projectId) {
  await call(token, "PUT", `/accounts/secrets/${name}`, { value });
  if (project !== null) await call(token, "PUT", `/accounts/secrets/${name}/projects/${project}`);
}

const at = (projectId: string, path: string) => `/projects/${projectId}${path}`;
const start = async (token: string, projectId = svc.projectId, body: object = {}): Promise<string> =>
  (await call(token, "POST", at(projectId, "/sessions"), body)).session_id;
const child = async (id: string) => start((await running(id)).environment["SVC_CLI_TOKEN"] ?? "");
const script = async () => (await call(owner, "POST", at(svc.projectId, "/cli-token"), { name: "ci" })).token;

async function running(id: string) {
  await untilStored(sql, id, ["running"]);
  const sandbox = svc.provider.sandboxes.get(id);
  if (!sandbox) throw new Error("the session has no sandbox");
  return sandbox;
}

/** The secrets of a sandbox, by their names. */
function secretsIn(environment: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const names = environment["SVC_PROJECT_SECRET_NAMES"]?.split(",").filter(Boolean) ?? [];
  return Object.fromEntries(names.map((name) => [name, environment[name]]));
}

/** The secrets that were sent to a running sandbox last. */
const sent = ({ envs }: Awaited<ReturnType<typeof running>>): Record<string, string> | undefined =>
  Reflect.get(Object(envs.at(-1)?.body), "env");

const PROJECTS = { SHARED: "SHARED of the project", MINE: "MINE of the project" };
const OWNERS = { ...PROJECTS, MINE: "mine of the owner" };
const MEMBERS = { ...PROJECTS, THEIRS: "theirs of the member" };
const fire = async (): Promise<string> =>
  (await call(owner, "POST", at(svc.projectId, "/triggers/nightly/fire"), {})).session_id;

test.each<[string, () => Promise<string>, agents: number, object]>([
  ["the holder, and of the agent of that one, and of the agent of this", () => start(owner), 2, OWNERS],
  ["another member, and of the agent of that one", () => start(member), 1, MEMBERS],
  ["a script with a token of the holder", async () => start(await script()), 0, PROJECTS],
  ["the holder, who fires a trigger, and of the agent of that one", fire, 1, PROJECTS],
])("a session of %s", async (_, begin, agents, secrets) => {
  let id = await begin();
  for (let below = 0; ; below++) {
    expect([below, secretsIn((await running(id)).environment)]).toEqual([below, { ...secrets }]);
    if (below === agents) break;
    id = await child(id);
  }
});

test("several tries of the holder have it", async () => {
  const body = { initial_prompt: "Try", count: 2 };
  const { tries } = await call(owner, "POST", at(svc.projectId, "/tries"), body);
  for (const { session } of tries)
    expect(secretsIn((await running(session.session_id)).environment)).toEqual(OWNERS);
});

test("a session of the holder in a project that was not allowed has only the project's", async () => {
  const { environment } = await running(await start(owner, other));
  expect(secretsIn(environment)).toEqual(PROJECTS);
});

test("an app that the holder deploys has only the project's, and so does its build", async () => {
  await call(owner, "POST", at(svc.projectId, "/apps/shop/deploy"), {});
  const found = () => [...svc.provider.sandboxes.values()].find(({ environment }) => environment["SVC_APP"]);
  await until("the app has a sandbox", () => found() !== undefined);
  const { environment = {} } = found() ?? {};
  expect(secretsIn(environment)).toEqual(PROJECTS);
  expect(JSON.parse(environment["SVC_APP"] ?? "").buildSecrets).toEqual(PROJECTS);
});

test("a member who restarts the holder's session restarts the holder's session", async () => {
  const id = await start(owner);
  const before = await running(id);
  await call(member, "POST", at(svc.projectId, `/sessions/${id}/restart`), {});
  await until("it starts again", () => svc.provider.sandboxes.get(id) !== before);
  expect(secretsIn((await running(id)).environment)).toEqual(OWNERS);
});

test("a change reaches the holder's running sessions, and no one else's", async () => {
  const [mine, theirs] = [await running(await start(owner)), await running(await start(member))];
  const becomes = (what: string, secrets: object) =>
    until(what, () => Bun.deepEquals(sent(mine), { ...secrets }));
  await hold(owner, "MINE", "newer", null);
  await becomes("the value is new", { ...PROJECTS, MINE: "newer" });
  await hold(owner, "LATER", "later");
  await becomes("another secret is there", { ...PROJECTS, MINE: "newer", LATER: "later" });
  await call(owner, "DELETE", `/accounts/secrets/MINE/projects/${svc.projectId}`);
  await becomes("the project's value is back", { ...PROJECTS, LATER: "later" });
  await call(owner, "DELETE", "/accounts/secrets/LATER");
  await becomes("it is gone", PROJECTS);
  await until("the other session has the last state", () => theirs.envs.length >= 1);
  for (const { body } of theirs.envs) expect(Reflect.get(Object(body), "env")).toEqual(MEMBERS);
  await hold(owner, "MINE", "mine of the owner");
});

test("the end of a membership takes them from running sessions, and they do not come back with it", async () => {
  const token = await joined("leaver@example.com");
  await hold(token, "LEAVES", "theirs");
  const sandbox = await running(await start(token));
  expect(secretsIn(sandbox.environment)).toMatchObject({ LEAVES: "theirs" });
  const [user] = await sql`select user_id from users where email = 'leaver@example.com'`;
  await call(owner, "DELETE", `/accounts/${accountId}/members/${user?.["user_id"]}`);
  await until("the sandbox has lost it", () => Bun.deepEquals(sent(sandbox), { ...PROJECTS }));
  await joined("leaver@example.com");
  expect(await call(token, "GET", "/accounts/secrets")).toMatchObject({
    items: [{ name: "LEAVES", projects: [] }],
  });
  expect(secretsIn((await running(await start(token))).environment)).toEqual(PROJECTS);
});

test("a key of one's own for the agent replaces all of the project's for that agent", async () => {
  const [name, token] = ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];
  await call(owner, "PUT", at(svc.projectId, `/secrets/${name}`), { value: "key of the project" });
  await hold(owner, token, "login of the owner");
  const own = async (who: string, runtime?: string) =>
    secretsIn((await running(await start(who, svc.projectId, { ...(runtime && { runtime }) }))).environment);
  expect(await own(owner, "claude-code")).toEqual({ ...OWNERS, [token]: "login of the owner" });
  expect(await own(owner, "opencode")).toEqual({
    ...{ ...OWNERS, [token]: "login of the owner" },
    [name]: "key of the project",
  });
  expect(await own(member, "claude-code")).toEqual({ ...MEMBERS, [name]: "key of the project" });
  await call(owner, "DELETE", at(svc.projectId, `/secrets/${name}`));
  await call(owner, "DELETE", `/accounts/secrets/${token}`);
});

test("a key of one's own counts in the list of agents, for its holder and the agents of their sessions", async () => {
  const missing = async (token: string) => {
    const { runtimes } = await call(token, "GET", at(svc.projectId, "/runtimes"));
    return runtimes.find(({ name }: { name: string }) => name === "codex").missing_keys.length;
  };
  const agent = (await running(await start(owner))).environment["SVC_CLI_TOKEN"] ?? "";
  const tokens = [owner, agent, member, await script()];
  const counts = async () => await Promise.all(tokens.map(missing));
  expect(await counts()).toEqual([3, 3, 3, 3]);
  await hold(owner, "CODEX_AUTH_JSON", "{}");
  expect(await counts()).toEqual([0, 0, 3, 3]);
  await call(owner, "DELETE", `/accounts/secrets/CODEX_AUTH_JSON/projects/${svc.projectId}`);
  expect(await counts()).toEqual([3, 3, 3, 3]);
});
