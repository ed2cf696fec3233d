import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { AUDIT_ACTIONS } from "../../src/contract/audit.ts";
import { TIMELINE_EVENTS } from "../../src/contract/timeline.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { OPERATIONS } from "../../src/http/openapi/operations.ts";
import { type Answer, type Api, startApi } from "../helpers/api.ts";
import { openBrowser, PASSWORD, signedIn } from "../helpers/cookie-browser.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const OWNER = "first@example.com";
let api: Api;
let remote: Remote;
let account: string;
let project: string;
let projectId: string;

beforeAll(async () => {
  api = await startApi();
  remote = new Remote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  account = `/v1/accounts/${(await api.call("GET", "/v1/accounts/me")).body.accounts[0].account_id}`;
  projectId = (await api.project(remote.url)).project_id;
  project = `/v1/projects/${projectId}`;
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

const entries = async (query = ""): Promise<Answer["body"][]> =>
  (await api.call("GET", `${account}/audit?limit=200${query}`)).body.audit_events;

/** The entries that a request has made, oldest first. */
async function madeBy(work: () => Promise<Answer>): Promise<{ answer: Answer; made: Answer["body"][] }> {
  const [last] = await entries();
  const answer = await work();
  const made = (await entries()).filter(({ id }) => id > (last?.id ?? 0));
  return { answer, made: made.toReversed() };
}

test("docs/audit.md has every route that can change something, and every action", () => {
  const rows = readFileSync("docs/audit.md", "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, route, action] = /^\| `([A-Z]+ \/v1\S+)` \| (.+) \|$/.exec(line) ?? [];
      return route === undefined || action === undefined ? [] : [{ route, action }];
    });
  const changing = Object.keys(OPERATIONS).filter((route) => !route.startsWith("GET "));
  expect(rows.map(({ route }) => route).sort()).toEqual(changing.sort());
  const known = new Set<string>([...AUDIT_ACTIONS, ...TIMELINE_EVENTS.map((event) => `cr.${event}`)]);
  const wrong = rows.filter(({ action }) => {
    if (/^not recorded: \S/.test(action)) return false;
    const named = [...action.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    return named.length === 0 || named.some((name) => !known.has(name));
  });
  expect(wrong).toEqual([]);
  const page = readFileSync("docs/audit.md", "utf8");
  expect(AUDIT_ACTIONS.filter((action) => !page.includes(`\`${action}\``))).toEqual([]);
});

const SIGNING_KEY = `ssh-ed25519 ${Buffer.concat([
  Buffer.from([0, 0, 0, 11]),
  Buffer.from("ssh-ed25519"),
  Buffer.from([0, 0, 0, 32]),
  Buffer.alloc(32, 7),
]).toString("base64")}`;

/** Requests in an order in which each succeeds: route, body, the one action that it records, and its target. */
const WALK: readonly (readonly [route: string, body: unknown, action: string, target: unknown])[] = [
  ["PATCH :account", { name: "Renamed" }, "account.edited", expect.any(String)],
  ["POST /v1/accounts/tokens", { name: "laptop" }, "token.created", "laptop"],
  ["DELETE /v1/accounts/tokens/:token_id", undefined, "token.revoked", "laptop"],
  ["POST :account/invitations", { role: "member" }, "invitation.created", "anyone with the link"],
  ["DELETE :account/invitations/:invitation_id", undefined, "invitation.withdrawn", "anyone with the link"],
  ["POST /v1/users/me/signing-keys", { key: SIGNING_KEY, title: "laptop" }, "signing_key.added", "laptop"],
  ["DELETE /v1/users/me/signing-keys/:id", undefined, "signing_key.removed", "laptop"],
  ["PUT /v1/accounts/secrets/MINE", { value: "s3cret" }, "own_secret.set", "MINE"],
  ["PUT /v1/accounts/secrets/MINE/projects/:project", undefined, "own_secret.allowed", "MINE"],
  ["DELETE /v1/accounts/secrets/MINE/projects/:project", undefined, "own_secret.denied", "MINE"],
  ["DELETE /v1/accounts/secrets/MINE", undefined, "own_secret.deleted", "MINE"],
  ["POST /v1/projects", { name: "Other" }, "project.created", "other"],
  ["DELETE /v1/projects/:project_id", undefined, "project.deleted", "other"],
  ["PATCH /v1/projects/:project", { name: "Shop" }, "project.edited", "example"],
  ["POST /v1/projects/:project/cli-token", { name: "ci" }, "token.created", "ci"],
  ["DELETE /v1/projects/:project/cli-token/:token_id", undefined, "token.revoked", "ci"],
  ["POST /v1/projects/:project/secrets", { name: "KEY", value: "s3cret" }, "secret.set", "KEY"],
  ["PUT /v1/projects/:project/secrets/KEY", { value: "s3cret-2" }, "secret.set", "KEY"],
  ["DELETE /v1/projects/:project/secrets/KEY", undefined, "secret.deleted", "KEY"],
  [
    "POST /v1/projects/:project/webhooks",
    { url: "https://hooks.example.com/s3cret" },
    "webhook.created",
    "hooks.example.com",
  ],
  [
    "PATCH /v1/projects/:project/webhooks/:webhook_id",
    { events: ["cr.*"] },
    "webhook.edited",
    "hooks.example.com",
  ],
  ["DELETE /v1/projects/:project/webhooks/:webhook_id", undefined, "webhook.deleted", "hooks.example.com"],
  [
    "PUT /v1/projects/:project/model-upstreams/own",
    { format: "openai", url: "https://models.example.com/v1", key: "s3cret" },
    "model_upstream.set",
    "own",
  ],
  ["DELETE /v1/projects/:project/model-upstreams/own", undefined, "model_upstream.removed", "own"],
  [
    "PUT /v1/server/model-upstreams/all",
    { format: "openai", url: "https://s3cret.example.com/v1", key: "s3cret" },
    "model_upstream.set",
    "all",
  ],
  ["DELETE /v1/server/model-upstreams/all", undefined, "model_upstream.removed", "all"],
  ["POST /v1/projects/:project/labels", { name: "bug" }, "label.created", "bug"],
  ["PATCH /v1/projects/:project/labels/bug", { color: "0e8a16" }, "label.edited", "bug"],
  ["DELETE /v1/projects/:project/labels/bug", undefined, "label.deleted", "bug"],
  ["POST /v1/projects/:project/sessions", { name: "fix" }, "session.created", "fix"],
  [
    "PATCH /v1/projects/:project/sessions/:session_id",
    { name: "fix it" },
    "session.edited",
    expect.any(String),
  ],
  ["DELETE /v1/projects/:project/sessions/:session_id", undefined, "session.deleted", expect.any(String)],
  ["POST /v1/projects/:project/change-requests", { title: "t", head_ref: "work" }, "cr.opened", "#1"],
  ["PATCH /v1/projects/:project/change-requests/1", { title: "T" }, "cr.renamed", "#1"],
  ["POST /v1/projects/:project/change-requests/1/close", undefined, "cr.closed", "#1"],
  ["POST /v1/projects/:project/change-requests/1/reopen", undefined, "cr.reopened", "#1"],
  ["POST /v1/projects/:project/change-requests/1/merge", {}, "cr.merged", "#1"],
];

test("each route records exactly one entry, with who, from where and what, and no secret", async () => {
  const names: Record<string, unknown> = { account, project: projectId };
  const seen: unknown[] = [];
  for (const [route, body, action, target] of WALK) {
    const [method = "", path = ""] = route
      .split(" ")
      .map((part) => part.replaceAll(/:(\w+)/g, (_, name: string) => String(names[name])));
    const { answer, made } = await madeBy(() => api.call(method, path, body === undefined ? {} : { body }));
    expect([route, answer.status < 300 ? "done" : answer.text]).toEqual([route, "done"]);
    // names that later paths have; a project's own list of fields has no other ids
    if (method === "POST") Object.assign(names, answer.body);
    const ofMerge = action === "cr.merged";
    expect([route, made]).toEqual([
      route,
      [
        expect.objectContaining({
          action,
          target,
          actor: expect.objectContaining({ email: OWNER, kind: "user", token_name: null }),
          // svc may complete a merge after the request
          request_id: ofMerge ? null : answer.headers.get("x-request-id"),
          address: ofMerge ? null : "127.0.0.1",
        }),
      ],
    ]);
    seen.push(made);
  }
  expect(JSON.stringify(seen)).not.toContain("s3cret");
});

test("sign-ins, members and what operators do on the machine are recorded, and seen by managers only", async () => {
  const { url } = (await api.call("POST", `${account}/invitations`, { body: { role: "admin" } })).body;
  const browser = openBrowser(api);
  const token = new URL(url).searchParams.get("token");
  const joined = await madeBy(() =>
    browser.call("POST", "/v1/auth/link", {
      body: { token, email: "new@example.com", name: "New", password: PASSWORD },
    }),
  );
  const user = joined.answer.body.user_id;
  const shown = ({ action, target, actor }: Answer["body"]) => [action, target, actor?.email ?? null];
  expect(joined.made.map(shown)).toEqual([["user.signed_up", "new@example.com", "new@example.com"]]);
  expect((await browser.call("GET", `${account}/audit`)).status).toBe(200);
  // an invitation that a member accepts changes nothing
  const second = (await api.call("POST", `${account}/invitations`, { body: { role: "member" } })).body;
  const followed = await madeBy(() =>
    browser.call("POST", "/v1/auth/link", { body: { token: new URL(second.url).searchParams.get("token") } }),
  );
  expect([followed.answer.body.user_id, followed.made]).toEqual([user, []]);
  const signing = await madeBy(() => browser.call("POST", "/v1/auth/sign-out"));
  expect(signing.made.map(({ action }) => action)).toEqual(["user.signed_out"]);
  const wrong = { email: "new@example.com", password: "wrong password" };
  await browser.call("POST", "/v1/auth/sign-in", { body: wrong });
  await until("the failed sign-in is recorded", async () => {
    const [newest] = await entries();
    return newest?.action === "user.sign_in_failed" && newest.actor === null && newest.target === wrong.email;
  });
  const again = await madeBy(() =>
    browser.call("POST", "/v1/auth/sign-in", { body: { ...wrong, password: PASSWORD } }),
  );
  expect(again.made.map(shown)).toEqual([["user.signed_in", "new@example.com", "new@example.com"]]);
  const role = await madeBy(() =>
    api.call("PATCH", `${account}/members/${user}`, { body: { role: "member" } }),
  );
  expect(role.made.map(({ action, details }) => [action, details])).toEqual([
    ["member.role_changed", { from: "admin", to: "member" }],
  ]);
  expect((await browser.call("GET", `${account}/audit`)).status).toBe(403);
  const gone = await madeBy(() => api.call("DELETE", `${account}/members/${user}`));
  expect(gone.made.map(shown)).toEqual([["member.removed", "new@example.com", OWNER]]);
  // of a person who is no member any more, nothing else is recorded here
  expect((await madeBy(() => browser.call("POST", "/v1/auth/sign-out"))).made).toEqual([]);
  await signedIn(api);
  const [last, before] = await entries();
  expect([last, before].map(shown)).toEqual([
    ["user.signed_in", OWNER, OWNER],
    ["user.password_changed", OWNER, null],
  ]);
  expect(before.details).toEqual({ by: "svc-api admin", is_new: false });
});

test("a refused request changes nothing and records nothing; a script is recorded as one", async () => {
  const ci = await api.call("POST", `${project}/cli-token`, { body: { name: "ci" } });
  const options = { token: ci.body.token, body: { value: "v" } };
  const refused = await madeBy(() =>
    api.call("PATCH", project, { token: ci.body.token, body: { name: "X" } }),
  );
  expect([refused.answer.status, refused.made]).toEqual([403, []]);
  const invalid = await madeBy(() => api.call("PUT", `${project}/secrets/1`, options));
  expect([invalid.answer.status, invalid.made]).toEqual([400, []]);
  const set = await madeBy(() => api.call("PUT", `${project}/secrets/CI_KEY`, options));
  expect(set.made.map(({ actor }) => actor)).toEqual([
    expect.objectContaining({ kind: "token", token_id: ci.body.token_id, token_name: "ci", email: OWNER }),
  ]);
});

test("the log is filtered by actor, action, target and time, and read in pages", async () => {
  const all = await entries();
  const pages: unknown[] = [];
  for (let cursor = ""; pages.length < all.length; ) {
    const { body } = await api.call("GET", `${account}/audit?limit=7${cursor}`);
    pages.push(...body.audit_events);
    if (body.next_cursor === undefined) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(pages.map((each) => Reflect.get(Object(each), "id"))).toEqual(all.map(({ id }) => id));
  const filtered = async (query: string, isIt: (entry: Answer["body"]) => boolean) => {
    const found = await entries(`&${query}`);
    expect([query, found.map(({ id }) => id)]).toEqual([query, all.filter(isIt).map(({ id }) => id)]);
    expect(found.length).toBeGreaterThan(0);
  };
  await filtered("actor=FIRST@example.com", ({ actor }) => actor?.email === OWNER);
  const someone = all.find(({ actor }) => actor?.email === "new@example.com");
  await filtered(`actor=${someone.actor.user_id}`, ({ actor }) => actor?.email === "new@example.com");
  const ci = all.find(({ actor }) => actor?.token_name === "ci");
  await filtered(`actor=${ci.actor.token_id}`, ({ actor }) => actor?.token_id === ci.actor.token_id);
  await filtered("action=token.created", ({ action }) => action === "token.created");
  await filtered("action=own_secret.*", ({ action }) => action.startsWith("own_secret."));
  await filtered("target=KEY", ({ target }) => target === "KEY");
  await filtered(`target=${projectId}`, ({ target_id }) => target_id === projectId);
  const { created_at: middle } = all[Math.floor(all.length / 2)];
  await filtered(`since=${middle}`, ({ created_at }) => created_at >= middle);
  await filtered(`until=${middle}`, ({ created_at }) => created_at < middle);
  expect((await api.call("GET", `${account}/audit?action=%27`)).status).toBe(400);
  // in UTC these are in the years 0 and 10000, which Postgres does not read
  for (const time of ["0001-01-01T00:00:00%2B01:00", "9999-12-31T23:59:59-01:00"])
    for (const filter of ["since", "until"])
      expect((await api.call("GET", `${account}/audit?${filter}=${time}`)).status).toBe(400);
  expect(await entries("&target=%00")).toEqual([]);
});

test("an operator's check of the chain says that it is intact", async () => {
  await until("all entries are sealed", async () => {
    const line = await sendAdminCommand(api.dataDir, { verb: "verify-audit" });
    return line?.startsWith("The audit log is intact: ") === true && line.includes(" 0 are not sealed yet.");
  });
  expect((await entries()).every(({ position, hash }) => position > 0 && /^[0-9a-f]{64}$/.test(hash))).toBe(
    true,
  );
});
