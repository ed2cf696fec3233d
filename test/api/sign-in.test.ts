import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { openBrowser, PASSWORD, signedIn } from "../helpers/cookie-browser.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

let api: Api;
let remote: Remote;
let project: { project_id: string };

beforeAll(async () => {
  api = await startApi();
  remote = new Remote();
  remote.commit("main", { a: "1\n" });
  project = await api.project(remote.url);
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

const signIn = (email: unknown, password: unknown) => ({ body: { email, password } });

test("rejects passwords of users who have none", async () => {
  const before = await openBrowser(api).call("GET", "/v1/auth/session");
  expect(before.body).toEqual({ signed_in: false, sign_up: "invited", github: false, first_user: true });
  await signedIn(api);
  const after = await openBrowser(api).call("GET", "/v1/auth/session");
  expect(after.body).toMatchObject({ signed_in: false, first_user: false });
});

test("a browser signs in, is authenticated on every route, and signs out", async () => {
  const browser = await signedIn(api);
  expect(browser.cookie).toMatch(/^svc=svc_bs_[\w-]{43}$/);
  const session = await browser.call("GET", "/v1/auth/session");
  expect(session.headers.get("cache-control")).toBe("no-store");
  const { user } = session.body;
  expect(session.body).toMatchObject({
    signed_in: true,
    user: { email: "first@example.com", name: "first" },
  });
  const me = await browser.call("GET", "/v1/accounts/me");
  expect([me.status, me.body.user_id]).toEqual([200, user.user_id]);
  expect((await browser.call("GET", "/v1/auth/whoami")).body).toMatchObject({ kind: "user", ...user });
  const mine = `/v1/projects/${project.project_id}`;
  expect((await browser.call("PATCH", mine, { body: { name: "By a page" } })).body.name).toBe("By a page");
  const spoilt = { headers: { Authorization: "Bearer svc_pat_x" } };
  expect((await browser.call("GET", mine, spoilt)).status).toBe(401);

  const { cookie } = browser;
  expect((await browser.call("POST", "/v1/auth/sign-out")).body).toEqual({ ok: true });
  expect(browser.cookie).toBeNull();
  for (const path of [mine, "/v1/accounts/me"]) {
    const late = await browser.call("GET", path, { headers: { Cookie: `${cookie}` } });
    expect([late.status, late.body.code]).toEqual([401, "unauthorized"]);
  }
  expect((await browser.call("POST", "/v1/auth/sign-out")).status).toBe(200);
});

test("each sign-in has a new secret, and ends the previous one", async () => {
  const browser = await signedIn(api);
  const { cookie: first } = browser;
  await browser.call("POST", "/v1/auth/sign-in", signIn("FIRST@example.com ", PASSWORD));
  expect(browser.cookie).not.toBe(first);
  expect((await browser.call("GET", "/v1/accounts/me")).status).toBe(200);
  const before = await browser.call("GET", "/v1/accounts/me", { headers: { Cookie: `${first}` } });
  expect(before.status).toBe(401);
});

test("signing in never makes a planted cookie valid", async () => {
  const browser = openBrowser(api);
  browser.cookie = `svc=svc_bs_${"a".repeat(43)}`;
  const planted = browser.cookie;
  await browser.call("POST", "/v1/auth/sign-in", signIn("first@example.com", PASSWORD));
  expect(browser.cookie).not.toBe(planted);
  const answer = await browser.call("GET", "/v1/accounts/me", { headers: { Cookie: planted } });
  expect(answer.status).toBe(401);
});

describe("a cookie is rejected", () => {
  const rows: [string, { page?: boolean; headers?: Record<string, string> }, number, string][] = [
    ["without the header of svc's pages", { page: false }, 401, "unauthorized"],
    [
      "with another value of that header",
      { page: false, headers: { "X-Svc-Dashboard": "0" } },
      401,
      "unauthorized",
    ],
    ["from another site's page", { headers: { Origin: "https://evil.example" } }, 403, "forbidden"],
    [
      "from a page of the same host at another port",
      { headers: { Origin: "http://localhost:1" } },
      403,
      "forbidden",
    ],
    ["from a page without an origin", { headers: { Origin: "null" } }, 403, "forbidden"],
  ];
  for (const [name, options, status, code] of rows) {
    test(name, async () => {
      const browser = await signedIn(api);
      for (const [method, path] of [
        ["GET", "/v1/accounts/me"],
        ["GET", `/v1/projects/${project.project_id}`],
        ["DELETE", `/v1/projects/${project.project_id}`],
        ["GET", `/v1/p/${crypto.randomUUID()}/8000/svc/health`],
      ] as const) {
        const answer = await browser.call(method, path, options);
        expect([path, answer.status, answer.body.code]).toEqual([path, status, code]);
      }
    });
  }

  test("but is accepted from svc's own pages", async () => {
    const browser = await signedIn(api);
    const headers = { Origin: new URL(api.url).origin };
    expect((await browser.call("GET", "/v1/accounts/me", { headers })).status).toBe(200);
  });

  test("at a sandbox port that is not the daemon's", async () => {
    const browser = await signedIn(api);
    const sandbox = `/v1/p/${crypto.randomUUID()}`;
    expect((await browser.call("GET", `${sandbox}/8000/`)).status).toBe(404);
    expect((await browser.call("GET", `${sandbox}/3000/`)).status).toBe(401);
  });

  test("by the git gateway", async () => {
    const browser = await signedIn(api);
    const path = `/v1/git/${project.project_id}.git/info/refs?service=git-upload-pack`;
    expect((await browser.call("GET", path)).status).toBe(401);
  });
});

test("pages of other sites cannot sign a browser in or out", async () => {
  const body = { email: "first@example.com", password: PASSWORD };
  await signedIn(api);
  for (const path of ["/v1/auth/sign-in", "/v1/auth/sign-out"]) {
    for (const options of [{ page: false }, { headers: { Origin: "https://evil.example" } }]) {
      const answer = await openBrowser(api).call("POST", path, { body, ...options });
      expect([path, answer.status, answer.headers.get("set-cookie")]).toEqual([path, 403, null]);
    }
  }
});

test("an unknown user and a wrong password get the same response after the same work", async () => {
  await signedIn(api);
  await api.mint("tokens-only@example.com");
  const rows = [
    ["first@example.com", "wrong"],
    ["nobody@example.com", "wrong"],
    ["tokens-only@example.com", "wrong"],
    ["nobody\0@example.com", "wrong"],
  ] as const;
  using verify = spyOn(Bun.password, "verify");
  const answers = [];
  for (const [email, password] of rows) {
    const answer = await openBrowser(api).call("POST", "/v1/auth/sign-in", signIn(email, password));
    answers.push([answer.status, answer.body, answer.headers.get("set-cookie")]);
  }
  const body = { error: "Wrong e-mail address or password.", code: "bad_credentials" };
  expect(answers).toEqual(rows.map(() => [401, body, null]));
  // the last is not an address, which its sender knows
  const costs = verify.mock.calls.map(([password, stored]) => [password, String(stored).split("$")[3]]);
  expect(costs).toEqual(rows.slice(0, 3).map(() => ["wrong", "m=8,t=1,p=1"]));
});

test("rejects invalid sign-in requests", async () => {
  for (const body of [
    undefined,
    {},
    { email: "a@b.c" },
    { email: ["a"], password: "x" },
    signIn("", "x").body,
  ]) {
    const answer = await openBrowser(api).call("POST", "/v1/auth/sign-in", { body });
    expect(answer.status).toBe(400);
  }
  const long = await openBrowser(api).call("POST", "/v1/auth/sign-in", signIn("a@b.c", "x".repeat(257)));
  expect(long.status).toBe(400);
  expect(long.text).not.toContain("xxxx");
});

test("after ten wrong passwords, the user is locked out for a while, and no other user is", async () => {
  const guessed = "guessed@example.com";
  await signedIn(api, guessed);
  await signedIn(api);
  const browser = openBrowser(api);
  for (let count = 0; count < 10; count++) {
    expect((await browser.call("POST", "/v1/auth/sign-in", signIn(guessed, `guess ${count}`))).status).toBe(
      401,
    );
  }
  const locked = await browser.call("POST", "/v1/auth/sign-in", signIn(guessed, PASSWORD));
  expect([locked.status, locked.body.code]).toEqual([429, "rate_limited"]);
  expect(Number(locked.headers.get("retry-after"))).toBeGreaterThan(600);
  expect(locked.headers.get("x-ratelimit-limit")).toBe("10");
  // what a client says of its own address does not count
  const headers = { "X-Forwarded-For": "203.0.113.7" };
  const elsewhere = await browser.call("POST", "/v1/auth/sign-in", { ...signIn(guessed, PASSWORD), headers });
  expect(elsewhere.status).toBe(429);
  const other = await browser.call("POST", "/v1/auth/sign-in", signIn("first@example.com", PASSWORD));
  expect(other.status).toBe(200);
});

test("behind a trusted proxy, clients are rate-limited by their own address, and users across all addresses", async () => {
  const proxied = await startApi({ env: { SVC_TRUSTED_PROXIES: "127.0.0.0/8" } });
  try {
    const [guessed, teammate] = ["guessed@example.com", "teammate@example.com"];
    await signedIn(proxied, guessed);
    await signedIn(proxied, teammate);
    const browser = openBrowser(proxied);
    const from = async (address: string, email: string, password: string) => {
      const headers = { "X-Forwarded-For": `198.51.100.1, ${address}` };
      const options = { ...signIn(email, password), headers };
      return (await browser.call("POST", "/v1/auth/sign-in", options)).status;
    };
    const guesses = async (address: string) => {
      const statuses: number[] = [];
      while (statuses.at(-1) !== 429) statuses.push(await from(address, guessed, `guess ${statuses.length}`));
      return statuses.length - 1;
    };
    expect(await guesses("203.0.113.1")).toBe(10);
    // neither the rest of the team nor the user themselves at another address is locked out
    expect(await from("203.0.113.2", teammate, PASSWORD)).toBe(200);
    expect(await from("203.0.113.2", guessed, PASSWORD)).toBe(200);
    let all = 10;
    for (let host = 3; all < 50; host++) all += await guesses(`203.0.113.${host}`);
    expect(all).toBe(50);
    expect(await from("203.0.113.99", guessed, "one more guess")).toBe(429);
    expect(await from("203.0.113.1", teammate, PASSWORD)).toBe(200);
    // of the 50, the audit log has as many as show the attack, with the addresses of the clients
    const token = await proxied.mint(guessed);
    const [{ account_id: account }] = (await proxied.call("GET", "/v1/accounts/me", { token })).body.accounts;
    const path = `/v1/accounts/${account}/audit?action=user.sign_in_failed&limit=100`;
    let addresses: string[] = [];
    await until("20 wrong passwords are recorded", async () => {
      const { audit_events } = (await proxied.call("GET", path, { token })).body;
      addresses = audit_events.map(({ address }: { address: string }) => address);
      return addresses.length === 20;
    });
    expect(addresses.every((address) => address.startsWith("203.0.113."))).toBe(true);
  } finally {
    await proxied.stop();
  }
});

test("a new password signs out the user's browsers", async () => {
  const email = "changes@example.com";
  const browser = await signedIn(api, email);
  await sendAdminCommand(api.dataDir, { verb: "user", email, password: "another one" });
  expect((await browser.call("GET", "/v1/accounts/me")).status).toBe(401);
  expect((await browser.call("GET", "/v1/auth/session")).body.signed_in).toBe(false);
  expect((await browser.call("POST", "/v1/auth/sign-in", signIn(email, "another one"))).status).toBe(200);
});

test("over TLS, the cookie is secure and for this host only", async () => {
  const behind = await startApi({ env: { SVC_PUBLIC_URL: "https://svc.example.com" } });
  try {
    const browser = await signedIn(behind);
    expect(browser.cookie).toStartWith("__Host-svc=svc_bs_");
    const headers = { Origin: "https://svc.example.com" };
    const again = await browser.call("POST", "/v1/auth/sign-in", {
      ...signIn("first@example.com", PASSWORD),
      headers,
    });
    const attributes = again.headers.get("set-cookie")?.split("; ").slice(1);
    expect(attributes).toEqual(["Path=/", "HttpOnly", "SameSite=Lax", "Max-Age=2592000", "Secure"]);
    expect((await browser.call("GET", "/v1/accounts/me", { headers })).status).toBe(200);
  } finally {
    await behind.stop();
  }
});
