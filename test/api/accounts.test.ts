import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AGAINST_BINARIES, type Answer, type Api, startApi } from "../helpers/api.ts";
import { type Browser, openBrowser, PASSWORD, signedIn } from "../helpers/cookie-browser.ts";

let api: Api;
/** `/v1/accounts/<id>` of the first user's account. */
let team: string;
let owner: string;
let admin: Browser;
let member: Browser;
let stranger: string;
let now = Date.now();

beforeAll(async () => {
  api = await startApi(AGAINST_BINARIES ? {} : { deps: { clock: () => new Date(now) } });
  const me = await api.call("GET", "/v1/accounts/me");
  team = `/v1/accounts/${me.body.accounts[0].account_id}`;
  owner = me.body.user_id;
  [admin, member] = await Promise.all([joined("admin"), joined("member")]);
  stranger = await api.mint("stranger@example.com");
});
afterAll(() => api.stop());

const invite = async (body: object, token?: string): Promise<Answer> =>
  api.call("POST", `${team}/invitations`, { body, ...(token !== undefined && { token }) });
const tokenOf = ({ body }: Answer) => new URL(body.url).searchParams.get("token") ?? "";
const follow = (browser: Browser, body: object) => browser.call("POST", "/v1/auth/link", { body });
const idOf = async (browser: Pick<Browser, "call">): Promise<string> =>
  (await browser.call("GET", "/v1/accounts/me")).body.user_id;

/** A new user who has taken an invitation up. */
async function joined(role: string, email = `${role}-${crypto.randomUUID()}@example.com`): Promise<Browser> {
  const browser = openBrowser(api);
  const token = tokenOf(await invite({ email, role }));
  const answer = await follow(browser, { token, name: role, password: PASSWORD });
  if (answer.status !== 200) throw new Error(`not joined: ${answer.text}`);
  return browser;
}

test("authorizes each caller on each account route", async () => {
  const made = await api.call("POST", "/v1/projects", { body: { name: "hosted" } });
  const agent = (await api.call("POST", `/v1/projects/${made.body.project_id}/cli-token`)).body.token;
  const [nobody, adminId, memberId] = [crypto.randomUUID(), await idOf(admin), await idOf(member)];
  const callers: Record<string, Api["call"]> = {
    owner: api.call,
    admin: admin.call,
    member: member.call,
    stranger: (method, path, options) => api.call(method, path, { ...options, token: stranger }),
    agent: (method, path, options) => api.call(method, path, { ...options, token: agent }),
  };
  const everybody = (status: number) => ({ owner: status, admin: status, member: status });
  const managers = (status: number) => ({ owner: status, admin: status, member: 403 });
  const outside = { stranger: 403, agent: 403 };
  const rows: [string, string, unknown, Record<string, number>][] = [
    ["GET", team, undefined, { ...everybody(200), ...outside }],
    ["PATCH", team, { name: "Team" }, { ...managers(200), ...outside }],
    ["PATCH", team, { name: " " }, { owner: 400 }],
    ["GET", `${team}/members`, undefined, { ...everybody(200), ...outside }],
    ["PATCH", `${team}/members/${memberId}`, { role: "member" }, { ...managers(200), ...outside }],
    ["PATCH", `${team}/members/${memberId}`, { role: "owner" }, { admin: 403, member: 403, ...outside }],
    [
      "PATCH",
      `${team}/members/${owner}`,
      { role: "member" },
      { owner: 409, admin: 403, member: 403, ...outside },
    ],
    ["DELETE", `${team}/members/${owner}`, undefined, { owner: 409, admin: 403, member: 403, ...outside }],
    ["DELETE", `${team}/members/${adminId}`, undefined, { member: 403, ...outside }],
    ["PATCH", `${team}/members/${nobody}`, { role: "admin" }, { ...managers(404), ...outside }],
    ["DELETE", `${team}/members/${nobody}`, undefined, { ...managers(404), ...outside }],
    ["GET", `${team}/invitations`, undefined, { ...managers(200), ...outside }],
    ["POST", `${team}/invitations`, { role: "member" }, { ...managers(201), ...outside }],
    ["POST", `${team}/invitations`, { role: "owner" }, { owner: 201, admin: 403, member: 403, ...outside }],
    ["POST", `${team}/invitations`, { role: "boss" }, { owner: 400 }],
    ["POST", `${team}/invitations`, { role: "member", email: "no address" }, { owner: 400 }],
    ["POST", `${team}/invitations`, { role: "member", email: "first@example.com" }, { owner: 400 }],
    ["DELETE", `${team}/invitations/${nobody}`, undefined, { ...managers(404), ...outside }],
    ["GET", `/v1/accounts/${nobody}`, undefined, { owner: 404, stranger: 404, agent: 403 }],
    ["GET", `/v1/accounts/${nobody}/members`, undefined, { owner: 404 }],
    ["GET", "/v1/accounts/no-uuid", undefined, { owner: 400 }],
  ];
  for (const [method, path, body, expected] of rows) {
    for (const [name, status] of Object.entries(expected)) {
      const answer = await callers[name]?.(method, path, body === undefined ? {} : { body });
      expect([method, path, body, name, answer?.status]).toEqual([method, path, body, name, status]);
    }
  }
  expect((await api.call("GET", team)).body).toMatchObject({ name: "Team", role: "owner" });
  const members = (await member.call("GET", `${team}/members`)).body.members;
  expect(members.map(({ role }: { role: string }) => role).sort()).toEqual(["admin", "member", "owner"]);
});

test("the last owner cannot leave or be demoted, even by concurrent requests", async () => {
  const second = await joined("owner");
  const id = await idOf(second);
  const answers = await Promise.all([
    api.call("DELETE", `${team}/members/${id}`),
    second.call("PATCH", `${team}/members/${owner}`, { body: { role: "member" } }),
    second.call("DELETE", `${team}/members/${id}`),
    api.call("PATCH", `${team}/members/${owner}`, { body: { role: "admin" } }),
  ]);
  const members: { user_id: string; role: string }[] = (await admin.call("GET", `${team}/members`)).body
    .members;
  expect(members.filter(({ role }) => role === "owner")).toHaveLength(1);
  expect(answers.map(({ status }) => status)).not.toEqual([200, 200, 200, 200]);
  const [left] = members.filter(({ role }) => role === "owner");
  if (left?.user_id !== owner) {
    await second.call("PATCH", `${team}/members/${owner}`, { body: { role: "owner" } });
    await api.call("DELETE", `${team}/members/${id}`);
  }
  const last = await api.call("DELETE", `${team}/members/${owner}`);
  expect([last.status, last.body.code]).toEqual([409, "last_owner"]);
});

describe("an invitation", () => {
  test("shows its account and role, shows its link once, and is accepted once by a new user", async () => {
    const made = await invite({ email: "New@example.com", role: "admin" });
    expect(made.body).toMatchObject({ email: "new@example.com", role: "admin", created_by: owner });
    const listed = await api.call("GET", `${team}/invitations`);
    expect(listed.text).not.toContain("svc_ln_");
    expect(listed.text).toContain(made.body.invitation_id);
    const token = tokenOf(made);
    const seen = await openBrowser(api).call("GET", `/v1/auth/link?token=${token}`);
    expect(seen.body).toMatchObject({ kind: "invitation", email: "new@example.com", role: "admin" });
    expect(seen.body.account_name).toBe("Team");
    // another address than the invited one is not listened to
    const body = { token, name: "New", email: "other@example.com", password: PASSWORD };
    const answers = await Promise.all([0, 1].map(() => follow(openBrowser(api), body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    const taken = answers.find(({ status }) => status === 200);
    expect(taken?.body).toMatchObject({ email: "new@example.com", name: "New" });
    const browser = await signedIn(api, "new@example.com");
    const me = await browser.call("GET", "/v1/accounts/me");
    expect(me.body.accounts).toMatchObject([{ role: "admin", name: "Team" }]);
    await browser.call("DELETE", `${team}/members/${me.body.user_id}`);
    expect((await browser.call("GET", team)).status).toBe(403);
  });

  test("without an address is accepted with any address, also through the sign-up form", async () => {
    const token = tokenOf(await invite({ role: "member" }));
    const browser = openBrowser(api);
    expect((await follow(browser, { token, password: PASSWORD })).status).toBe(400);
    const body = { email: "form@example.com", name: "Form", password: PASSWORD, invitation: token };
    const made = await browser.call("POST", "/v1/auth/sign-up", { body });
    expect([made.status, made.body.email]).toEqual([201, "form@example.com"]);
    expect((await browser.call("GET", team)).body.role).toBe("member");
  });

  test("does not change an existing user, who signs in and joins", async () => {
    const email = "known@example.com";
    const browser = await signedIn(api, email);
    const token = tokenOf(await invite({ role: "member" }));
    const taken = await follow(openBrowser(api), { token, email, password: "a takeover" });
    expect([taken.status, taken.body.code]).toEqual([409, "email_taken"]);
    const forOther = tokenOf(await invite({ role: "member", email: "else@example.com" }));
    expect((await follow(browser, { token: forOther })).status).toBe(403);
    expect((await browser.call("GET", team)).status).toBe(403);
    expect((await follow(browser, { token })).body.email).toBe(email);
    const me = await browser.call("GET", "/v1/accounts/me");
    expect(me.body.accounts.map(({ role }: { role: string }) => role)).toEqual(["owner", "member"]);
    expect((await follow(browser, { token })).status).toBe(404);
  });

  test("does not lower the role of a member", async () => {
    const again = tokenOf(await invite({ role: "member" }));
    expect((await follow(admin, { token: again })).status).toBe(200);
    expect((await admin.call("GET", team)).body.role).toBe("admin");
  });

  test("is rejected if it was withdrawn or its creator may no longer invite", async () => {
    const withdrawn = await invite({ role: "member" });
    await api.call("DELETE", `${team}/invitations/${withdrawn.body.invitation_id}`);
    const former = await joined("admin");
    const make = () => former.call("POST", `${team}/invitations`, { body: { role: "admin" } });
    const id = await idOf(former);
    const [demoted] = [
      await make(),
      await api.call("PATCH", `${team}/members/${id}`, { body: { role: "member" } }),
    ];
    await api.call("PATCH", `${team}/members/${id}`, { body: { role: "admin" } });
    const [removed] = [await make(), await api.call("DELETE", `${team}/members/${id}`)];
    for (const answer of [withdrawn, demoted, removed]) {
      const token = tokenOf(answer);
      const late = await follow(openBrowser(api), { token, email: "late@example.com", password: PASSWORD });
      expect(late.status).toBe(404);
    }
  });

  // a program's clock is the machine's
  if (!AGAINST_BINARIES)
    test("expires after seven days", async () => {
      const made = await invite({ role: "member" });
      const look = () => openBrowser(api).call("GET", `/v1/auth/link?token=${tokenOf(made)}`);
      now += 6.9 * 86_400_000;
      expect((await look()).status).toBe(200);
      now += 0.2 * 86_400_000;
      expect((await look()).status).toBe(404);
      expect((await api.call("GET", `${team}/invitations`)).text).not.toContain(made.body.invitation_id);
    });
});

test("a removed member loses access to the account's projects at once, with every token", async () => {
  const leaver = await joined("member");
  const made = await api.call("POST", "/v1/projects", { body: { name: "shared" } });
  const project = `/v1/projects/${made.body.project_id}`;
  const agent = (await leaver.call("POST", `${project}/cli-token`)).body.token;
  const pat = (await leaver.call("POST", "/v1/accounts/tokens", { body: { name: "x" } })).body.token;
  const statuses = async () => [
    (await leaver.call("GET", project)).status,
    (await api.call("GET", project, { token: agent })).status,
    (await api.call("GET", project, { token: pat })).status,
  ];
  expect(await statuses()).toEqual([200, 200, 200]);
  await api.call("DELETE", `${team}/members/${await idOf(leaver)}`);
  expect(await statuses()).toEqual([403, 403, 403]);
});
