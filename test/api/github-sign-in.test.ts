import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Api, startApi } from "../helpers/api.ts";
import { openBrowser, PASSWORD } from "../helpers/cookie-browser.ts";
import { type GithubPerson, startGithub } from "../helpers/github-oauth.ts";

const APP = { id: "Iv1.0123456789abcdef", secret: "stand-in-secret" };
const github = startGithub(APP);
const env = {
  SVC_GITHUB_URL: github.url,
  SVC_GITHUB_CLIENT_ID: APP.id,
  SVC_GITHUB_CLIENT_SECRET: APP.secret,
};
let api: Api;
let open: Api;

beforeAll(async () => {
  [api, open] = await Promise.all([startApi({ env }), startApi({ env: { ...env, SVC_SIGN_UP: "open" } })]);
});
afterAll(async () => {
  await Promise.all([api.stop(), open.stop()]);
  github.stop();
});
beforeEach(() => Object.assign(github.state, { isAway: false, refusals: [] }));

let ids = 1000;
function person(email: string, change: Partial<GithubPerson> = {}): GithubPerson {
  const emails = [{ email, primary: true, verified: true }];
  return { id: ids++, login: "octocat", name: "Octo Cat", emails, ...change };
}

/** Follows links as a browser does, its cookies and all, until svc sends it to a page. */
async function signInBy(server: Api, who: GithubPerson | null, query = "", spoil = (url: URL) => url) {
  github.state.person = who;
  const jar = new Map<string, string>();
  let at = `${server.url}/v1/auth/github${query}`;
  for (let hop = 0; hop < 5; hop++) {
    const headers = { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") };
    const isOurs = at.startsWith(server.url);
    const answer = await fetch(at, { redirect: "manual", ...(isOurs && { headers }) });
    for (const cookie of isOurs ? answer.headers.getSetCookie() : []) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/Max-Age=0/.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    const location = answer.headers.get("location");
    const text = await answer.text();
    if (location === null) return { status: answer.status, code: JSON.parse(text).code, page: null, jar };
    if (location.startsWith("/")) return { status: answer.status, code: null, page: location, jar };
    at = spoil(new URL(location.replace("//localhost:", "//127.0.0.1:"))).href;
  }
  throw new Error("sent around in a circle");
}

async function me(server: Api, jar: Map<string, string>) {
  const browser = openBrowser(server);
  browser.cookie = `svc=${jar.get("svc")}`;
  return (await browser.call("GET", "/v1/accounts/me")).body;
}

test("reports that GitHub sign-in is available", async () => {
  expect((await openBrowser(api).call("GET", "/v1/auth/session")).body.github).toBe(true);
});

test("an existing user signs in by a verified address, and stays the same user when it changes", async () => {
  const octo = person("First@Example.com");
  const { status, page, jar } = await signInBy(api, octo, "?next=/projects%3Fq%3D1");
  expect([status, page, [...jar.keys()]]).toEqual([303, "/projects?q=1", ["svc"]]);
  const mine = await api.call("GET", "/v1/accounts/me");
  expect(await me(api, jar)).toEqual(mine.body);
  const moved = { ...octo, emails: [{ email: "moved@example.com", primary: true, verified: true }] };
  expect((await me(api, (await signInBy(api, moved)).jar)).user_id).toBe(mine.body.user_id);
  // another person of GitHub with the address that was given up is not let in by it
  expect(await signInBy(api, person("first@example.com"))).toMatchObject({
    status: 409,
    code: "email_taken",
  });
});

test.each([
  ["has no invitation", person("nobody@example.com"), 403, "sign_up_closed"],
  [
    "has not verified the address of a user",
    person("x@example.com", { emails: [{ email: "second@example.com", primary: true, verified: false }] }),
    403,
    "sign_up_closed",
  ],
])("rejects a user who %s", async (_, who, status, code) => {
  await api.mint("second@example.com");
  const answer = await signInBy(api, who);
  expect(answer).toMatchObject({ status, code });
  expect(answer.jar.has("svc")).toBe(false);
});

describe("an invitation", () => {
  const invite = async (body: object) => {
    const { accounts } = (await api.call("GET", "/v1/accounts/me")).body;
    const made = await api.call("POST", `/v1/accounts/${accounts[0].account_id}/invitations`, { body });
    return new URL(made.body.url).searchParams.get("token") ?? "";
  };

  test("is accepted once, by the person with its address", async () => {
    const token = await invite({ email: "guest@example.com", role: "member" });
    const stranger = person("other@example.com");
    expect(await signInBy(api, stranger, `?invitation=${token}`)).toMatchObject({ status: 403 });
    const guest = person("main@example.com");
    guest.emails.push({ email: "guest@example.com", primary: false, verified: true });
    const { page, jar } = await signInBy(api, guest, `?invitation=${token}`);
    expect(page).toBe("/");
    expect(await me(api, jar)).toMatchObject({ email: "guest@example.com", accounts: [{ role: "member" }] });
    expect(await signInBy(api, stranger, `?invitation=${token}`)).toMatchObject({ status: 404 });
  });

  test("asks an existing user whether to join", async () => {
    await api.mint("joins@example.com");
    const token = await invite({ role: "member" });
    const { page } = await signInBy(api, person("joins@example.com"), `?invitation=${token}`);
    expect(page).toBe(`/welcome?token=${token}`);
  });
});

test("signs up new users where sign-up is open, but not with the address of an unverified account", async () => {
  const { jar } = await signInBy(open, person("new@example.com", { name: null }));
  expect(await me(open, jar)).toMatchObject({ email: "new@example.com", name: "octocat" });
  const body = { email: "victim@example.com", name: "Not me", password: PASSWORD };
  await openBrowser(open).call("POST", "/v1/auth/sign-up", { body });
  expect(await signInBy(open, person("victim@example.com"))).toMatchObject({
    status: 409,
    code: "email_taken",
  });
});

describe("rejects a callback from GitHub", () => {
  const spoilt: [string, (url: URL) => URL][] = [
    ["with another state", (url) => (url.searchParams.has("code") ? set(url, "state", "x".repeat(43)) : url)],
    ["without a state", (url) => (url.searchParams.has("code") ? set(url, "state", "") : url)],
    ["with a made-up code", (url) => (url.searchParams.has("code") ? set(url, "code", "made-up") : url)],
    [
      "whose code another challenge has",
      (url) => (url.searchParams.has("scope") ? set(url, "code_challenge", "y") : url),
    ],
  ];
  test.each(spoilt)("%s", async (_, spoil) => {
    const answer = await signInBy(api, person("first@example.com"), "", spoil);
    expect(answer).toMatchObject({ status: 400, code: "validation_failed" });
    expect(answer.jar.has("svc")).toBe(false);
  });

  test("in another browser", async () => {
    const answer = await api.call("GET", "/v1/auth/github/callback?code=x&state=y", { token: null });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([400, []]);
  });

  test("while GitHub is unreachable, with an explanation", async () => {
    const answer = await signInBy(api, person("first@example.com"), "", (url) => {
      github.state.isAway = url.searchParams.has("code");
      return url;
    });
    expect(answer).toMatchObject({ status: 503, code: "unavailable" });
  });
});

test("a user who denies access at GitHub returns to the sign-in page", async () => {
  expect(await signInBy(api, null)).toMatchObject({ status: 303, page: "/login" });
});

test.each([
  ["another site", "https://evil.example/"],
  ["one by two slashes", "//evil.example"],
  ["one by a backslash", "/\\evil.example"],
  ["a script", "javascript:alert(1)"],
  ["two lines", "/a\nb"],
  ["not ASCII", "/ü"],
  ["too long", `/${"a".repeat(2000)}`],
])("does not redirect to another site: %s", async (_, next) => {
  const known = person("next@example.com");
  await api.mint("next@example.com");
  known.id = 77;
  expect((await signInBy(api, known, `?next=${encodeURIComponent(next)}`)).page).toBe("/");
});

function set(url: URL, name: string, value: string): URL {
  url.searchParams.set(name, value);
  return url;
}
