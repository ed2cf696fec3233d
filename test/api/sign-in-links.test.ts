import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { AGAINST_BINARIES, type Api, startApi } from "../helpers/api.ts";
import { openBrowser, PASSWORD, signedIn } from "../helpers/cookie-browser.ts";
import { stored } from "../helpers/stored.ts";

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const passwordLink = async (email: string) =>
  (await sendAdminCommand(api.dataDir, { verb: "link", email })) ?? "no server";
const tokenOf = (url: string) => new URL(url).searchParams.get("token") ?? "";
const look = (token: string) => openBrowser(api).call("GET", `/v1/auth/link?token=${token}`);

describe("the link that a server prints when it has no users", () => {
  test("creates the first user, once, and is invalid afterwards", async () => {
    const empty = await startApi();
    try {
      const url = empty.firstUserLink ?? "";
      expect(url).toMatch(/^http:\/\/localhost:[1-9]\d*\/welcome\?token=svc_ln_[\w-]{43}$/);
      const token = tokenOf(url);
      const browser = openBrowser(empty);
      const seen = await browser.call("GET", `/v1/auth/link?token=${token}`);
      expect(seen.body).toMatchObject({ kind: "first_user", email: null });
      const body = { token, name: "Ada L.", email: "Ada@example.com", password: PASSWORD };
      const answers = await Promise.all(
        [0, 1, 2].map(() => openBrowser(empty).call("POST", "/v1/auth/link", { body })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
      const made = answers.find(({ status }) => status === 200);
      expect(made?.body).toMatchObject({ email: "ada@example.com", name: "Ada L." });
      const { email, password } = body;
      await browser.call("POST", "/v1/auth/sign-in", { body: { email, password } });
      const me = await browser.call("GET", "/v1/accounts/me");
      expect(me.body.accounts).toMatchObject([{ role: "owner" }]);
    } finally {
      await empty.stop();
    }
  });

  test("sets a password for a user who had only tokens", async () => {
    const empty = await startApi();
    try {
      const token = tokenOf(empty.firstUserLink ?? "");
      const browser = openBrowser(empty);
      const body = { token, email: "first@example.com", password: PASSWORD };
      expect((await browser.call("POST", "/v1/auth/link", { body })).status).toBe(200);
      const [mine, byToken] = [
        await browser.call("GET", "/v1/accounts/me"),
        await empty.call("GET", "/v1/accounts/me"),
      ];
      expect(mine.body).toEqual(byToken.body);
    } finally {
      await empty.stop();
    }
  });

  test("is invalid once any user has a password", async () => {
    await signedIn(api);
    const body = { token: tokenOf(api.firstUserLink ?? ""), email: "late@example.com", password: PASSWORD };
    const late = await openBrowser(api).call("POST", "/v1/auth/link", { body });
    expect([late.status, late.body.code]).toEqual([404, "not_found"]);
  });
});

describe("a password link", () => {
  test("sets the password once, signs in, and signs out all other browsers", async () => {
    const email = "forgetful@example.com";
    const old = await signedIn(api, email, "the forgotten one");
    const token = tokenOf(await passwordLink(email));
    expect((await look(token)).body).toMatchObject({ kind: "password", email });
    const browser = openBrowser(api);
    const body = { token, password: PASSWORD, email: "other@example.com", name: "x" };
    const answer = await browser.call("POST", "/v1/auth/link", { body });
    expect([answer.status, answer.body]).toEqual([
      200,
      { user_id: expect.any(String), email, name: "forgetful" },
    ]);
    expect((await browser.call("GET", "/v1/accounts/me")).body.email).toBe(email);
    expect((await old.call("GET", "/v1/accounts/me")).status).toBe(401);
    expect((await openBrowser(api).call("POST", "/v1/auth/link", { body })).status).toBe(404);
    expect((await look(token)).status).toBe(404);
  });

  test("invalidates the previous link", async () => {
    const first = tokenOf(await passwordLink("twice@example.com"));
    const second = tokenOf(await passwordLink("twice@example.com"));
    expect([(await look(first)).status, (await look(second)).status]).toEqual([404, 200]);
  });

  test("stays valid after an invalid request", async () => {
    const token = tokenOf(await passwordLink("patient@example.com"));
    const wrong: [unknown, Parameters<ReturnType<typeof openBrowser>["call"]>[2], number][] = [
      [{ token }, {}, 400],
      [{ token, password: "short" }, {}, 400],
      [{ token, password: "x".repeat(257) }, {}, 400],
      [{ token, password: PASSWORD }, { page: false }, 403],
      [{ token, password: PASSWORD }, { headers: { Origin: "https://evil.example" } }, 403],
    ];
    for (const [body, options, status] of wrong) {
      expect((await openBrowser(api).call("POST", "/v1/auth/link", { body, ...options })).status).toBe(
        status,
      );
    }
    const body = { token, password: PASSWORD };
    expect((await openBrowser(api).call("POST", "/v1/auth/link", { body })).status).toBe(200);
  });

  // a program's clock is the machine's
  if (!AGAINST_BINARIES)
    test("expires after a day", async () => {
      let now = Date.now();
      const timed = await startApi({ deps: { clock: () => new Date(now) } });
      try {
        const url = await sendAdminCommand(timed.dataDir, { verb: "link", email: "late@example.com" });
        const token = tokenOf(url ?? "");
        const seen = () => openBrowser(timed).call("GET", `/v1/auth/link?token=${token}`);
        now += 23 * 3_600_000;
        expect((await seen()).status).toBe(200);
        now += 2 * 3_600_000;
        const late = await seen();
        expect([late.status, late.body.error]).toEqual([404, expect.stringContaining("svc-api admin link")]);
        const body = { token, password: PASSWORD };
        expect((await openBrowser(timed).call("POST", "/v1/auth/link", { body })).status).toBe(404);
      } finally {
        await timed.stop();
      }
    });
});

test.each(["svc_ln_", `svc_ln_${"a".repeat(43)}`, "%00", "x".repeat(128), "%F0%9F"])(
  "rejects the invalid link %p",
  async (token) => expect((await look(token)).status).toBe(404),
);

describe("signing up", () => {
  const wish = (email: string) => ({ body: { email, name: "New", password: PASSWORD } });

  test("is closed by default", async () => {
    const refused = await openBrowser(api).call("POST", "/v1/auth/sign-up", wish("new@example.com"));
    expect([refused.status, refused.body.code]).toEqual([403, "sign_up_closed"]);
    const token = tokenOf(await passwordLink("somebody@example.com"));
    const body = { ...wish("new@example.com").body, invitation: token };
    expect((await openBrowser(api).call("POST", "/v1/auth/sign-up", { body })).status).toBe(404);
  });

  test("is open to everyone if the operator has opened it", async () => {
    const open = await startApi({ env: { SVC_SIGN_UP: "open" } });
    try {
      const browser = openBrowser(open);
      expect((await browser.call("GET", "/v1/auth/session")).body.sign_up).toBe("open");
      const made = await browser.call("POST", "/v1/auth/sign-up", wish("New@example.com"));
      expect([made.status, made.body]).toEqual([
        201,
        { user_id: expect.any(String), email: "new@example.com", name: "New" },
      ]);
      const me = await browser.call("GET", "/v1/accounts/me");
      expect(me.body.accounts).toMatchObject([{ role: "owner", name: "New" }]);
      // it neither takes over an existing user, nor allows unlimited attempts
      const taken = await openBrowser(open).call("POST", "/v1/auth/sign-up", wish("first@example.com"));
      expect([taken.status, taken.body.code]).toEqual([409, "email_taken"]);
      expect((await openBrowser(open).call("POST", "/v1/auth/sign-up", wish("not an address"))).status).toBe(
        400,
      );
      const statuses = [];
      for (let count = 0; count < 20; count++) {
        statuses.push(
          (await openBrowser(open).call("POST", "/v1/auth/sign-up", wish("first@example.com"))).status,
        );
      }
      expect(new Set(statuses)).toEqual(new Set([409, 429]));
    } finally {
      await open.stop();
    }
  });
});

test("changing a password requires the current one, and signs out every other browser", async () => {
  const email = "careful@example.com";
  const [browser, other] = [await signedIn(api, email), await signedIn(api, email)];
  const change = (current_password: string, new_password: string) =>
    browser.call("POST", "/v1/auth/password", { body: { current_password, new_password } });
  expect([
    (await change("wrong", "a new password")).status,
    (await change(PASSWORD, "short")).status,
  ]).toEqual([401, 400]);
  const { cookie } = browser;
  const changed = await change(PASSWORD, "a new password");
  expect([changed.status, changed.body.email]).toEqual([200, email]);
  expect(browser.cookie).not.toBe(cookie);
  expect((await browser.call("GET", "/v1/accounts/me")).status).toBe(200);
  expect((await other.call("GET", "/v1/accounts/me")).status).toBe(401);
  const body = { email, password: "a new password" };
  expect((await other.call("POST", "/v1/auth/sign-in", { body })).status).toBe(200);
});

test("a link's token is not in the database, and a server with users prints no link", async () => {
  const token = tokenOf(await passwordLink("secret@example.com"));
  await look(token);
  await api.stop({ keepData: true });
  const text = await stored(api);
  expect([text.includes("secret@example.com"), text.includes(token.slice(10))]).toEqual([true, false]);
  api = await startApi({ dataDir: api.dataDir });
  expect(api.firstUserLink).toBeNull();
});
