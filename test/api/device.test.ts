import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DEVICE_GRANT } from "../../src/contract/device.ts";
import { AGAINST_BINARIES, type Answer, type Api, startApi } from "../helpers/api.ts";
import { type Browser, signedIn } from "../helpers/cookie-browser.ts";

let api: Api;
let browser: Browser;
/** Only where the server runs in this process. */
let now = Date.now();
const pass = (seconds: number) => {
  now += seconds * 1000;
};

beforeAll(async () => {
  api = await startApi(AGAINST_BINARIES ? {} : { deps: { clock: () => new Date(now) } });
  browser = await signedIn(api);
});
afterAll(() => api.stop());

const ask = async (body: object = { label: "svc on laptop" }): Promise<Answer["body"]> =>
  (await api.call("POST", "/v1/auth/device", { token: null, body })).body;
const poll = (device_code: string) =>
  api.call("POST", "/v1/auth/device/token", { token: null, body: { device_code, grant_type: DEVICE_GRANT } });
const codeOf = async (device_code: string) => {
  const { status, body } = await poll(device_code);
  return status === 200 ? "token" : body.code;
};
const agree = (device_user_code: string, who: Pick<Browser, "call"> = browser) =>
  who.call("POST", "/v1/accounts/tokens", { body: { name: "laptop", device_user_code } });

test("a program starts a request, a person approves it in a browser, and the program gets a working token", async () => {
  const asked = await ask({ label: "svc on laptop", client_id: "svc/0.1.0" });
  expect(asked).toEqual({
    device_code: expect.stringMatching(/^[\w-]{43}$/),
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: `${api.url.replace("127.0.0.1", "localhost")}/cli/authorize`,
    verification_uri_complete: `${asked.verification_uri}?code=${asked.user_code}`,
    expires_in: 600,
    interval: 5,
  });
  const seen = await browser.call("GET", `/v1/auth/device/${asked.user_code}`);
  expect(seen.body).toEqual({
    user_code: asked.user_code,
    label: "svc on laptop",
    client: "svc/0.1.0",
    address: "127.0.0.1",
    requested_at: expect.any(String),
    expires_at: expect.any(String),
  });
  const agreed = await agree(asked.user_code);
  expect([agreed.status, agreed.body]).toEqual([201, { status: "approved", name: "laptop" }]);
  const { body: given, headers } = await poll(asked.device_code);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(given).toEqual({
    access_token: expect.stringMatching(/^svc_pat_/),
    token_type: "bearer",
    token_id: expect.any(String),
  });
  const me = await api.call("GET", "/v1/accounts/me", { token: given.access_token });
  expect([me.status, me.body.email]).toEqual([200, "first@example.com"]);
  const { body: listed } = await browser.call("GET", "/v1/accounts/tokens");
  const token = listed.tokens.find((each: { token_id: string }) => each.token_id === given.token_id);
  expect(token.name).toBe("laptop");
});

describe("a request is", () => {
  type Step = "agree" | "refuse" | "poll" | "look" | number;
  // seconds that pass, or what is done and what comes of it
  const rows: [string, [Step, string | number][]][] = [
    [
      "good for one token",
      [
        ["agree", 201],
        ["poll", "token"],
        ["poll", "expired_token"],
      ],
    ],
    [
      "agreed to once",
      [
        ["agree", 201],
        ["agree", 404],
        ["look", 404],
        ["refuse", 404],
        ["poll", "token"],
      ],
    ],
    [
      "over when it is refused",
      [
        ["refuse", 200],
        ["poll", "access_denied"],
        ["agree", 404],
      ],
    ],
    [
      "still refused at the next poll",
      [
        ["refuse", 200],
        ["poll", "access_denied"],
        [5, ""],
        ["poll", "access_denied"],
      ],
    ],
    [
      "waited for",
      [
        ["poll", "authorization_pending"],
        [5, ""],
        ["poll", "authorization_pending"],
        ["agree", 201],
        [5, ""],
        ["poll", "token"],
      ],
    ],
    [
      "polled too soon",
      [
        ["poll", "authorization_pending"],
        ["poll", "slow_down"],
        [5, ""],
        ["poll", "slow_down"],
        [15, ""],
        ["poll", "authorization_pending"],
      ],
    ],
    [
      "polled too soon, also after the approval",
      [
        ["agree", 201],
        [1, ""],
        ["poll", "token"],
      ],
    ],
    [
      "over after ten minutes",
      [
        [599, ""],
        ["look", 200],
        [2, ""],
        ["look", 404],
        ["agree", 404],
        ["poll", "expired_token"],
      ],
    ],
    [
      "over after ten minutes, even agreed to",
      [
        ["agree", 201],
        [601, ""],
        ["poll", "expired_token"],
      ],
    ],
  ];
  for (const [name, steps] of rows) {
    const waits = steps.some(([step]) => typeof step === "number");
    // a program's clock is the machine's
    if (AGAINST_BINARIES && waits) continue;
    test(name, async () => {
      const { device_code, user_code } = await ask();
      const path = `/v1/auth/device/${user_code}`;
      const became: unknown[] = [];
      for (const [step] of steps) {
        if (typeof step === "number") {
          pass(step);
          became.push("");
        }
        if (step === "poll") became.push(await codeOf(device_code));
        if (step === "agree") became.push((await agree(user_code)).status);
        if (step === "look") became.push((await browser.call("GET", path)).status);
        if (step === "refuse") became.push((await browser.call("POST", `${path}/deny`)).status);
      }
      expect(became).toEqual(steps.map(([, outcome]) => outcome));
    });
  }

  test("gives its token to exactly one of many concurrent polls", async () => {
    const { device_code, user_code } = await ask();
    await agree(user_code);
    const codes = await Promise.all(Array.from({ length: 8 }, () => codeOf(device_code)));
    expect(codes.filter((code) => code === "token")).toHaveLength(1);
    const { body } = await browser.call("GET", "/v1/accounts/tokens");
    expect(body.tokens.length).toBeGreaterThan(0);
  });
});

test("only a signed-in user can view, approve or deny a request, not a project token", async () => {
  const { user_code } = await ask();
  const path = `/v1/auth/device/${user_code}`;
  const repo = await api.call("POST", "/v1/projects", { body: { name: "hosted" } });
  const project = (await api.call("POST", `/v1/projects/${repo.body.project_id}/cli-token`)).body.token;
  const body = { name: "x", device_user_code: user_code };
  for (const [method, target, options] of [
    ["GET", path, {}],
    ["POST", `${path}/deny`, {}],
    ["POST", "/v1/accounts/tokens", { body }],
  ] as const) {
    const cookieAlone = await browser.call(method, target, { ...options, page: false });
    const nobody = await api.call(method, target, { ...options, token: null });
    const agent = await api.call(method, target, { ...options, token: project });
    expect([cookieAlone.status, nobody.status, agent.status]).toEqual([401, 401, 403]);
  }
  expect((await browser.call("GET", path)).status).toBe(200);
});

test("accepts a code in lower case, without its hyphen, and with spaces", async () => {
  const { user_code } = await ask();
  for (const typed of [
    user_code.toLowerCase(),
    user_code.replace("-", ""),
    encodeURIComponent(` ${user_code} `),
  ]) {
    const seen = await browser.call("GET", `/v1/auth/device/${typed}`);
    expect([typed, seen.status, seen.body.user_code]).toEqual([typed, 200, user_code]);
  }
});

test("removes control and bidirectional characters from a program's name", async () => {
  const label = "svc\u202e\u0007 on\u2028\u001b[2J laptop\u200b";
  const { user_code } = await ask({ label, client_id: "\ud800x\n" });
  const { body } = await browser.call("GET", `/v1/auth/device/${user_code}`);
  expect([body.label, body.client]).toEqual(["svc on[2J laptop", "\ufffdx"]);
});

test("rejects invalid requests", async () => {
  const send = (path: string, body: unknown) => api.call("POST", path, { token: null, body });
  for (const body of [{}, { label: " " }, { label: "x".repeat(101) }, { label: "x", client_id: 1 }]) {
    expect((await send("/v1/auth/device", body)).status).toBe(400);
  }
  const unknown = await send("/v1/auth/device/token", { device_code: "x", grant_type: DEVICE_GRANT });
  expect([unknown.status, unknown.body.code]).toEqual([400, "expired_token"]);
  const other = await send("/v1/auth/device/token", { device_code: "x", grant_type: "password" });
  expect([other.status, other.body.code]).toEqual([400, "validation_failed"]);
});

test("limits wrong codes and the number of open requests", async () => {
  const guesser = await signedIn(api, "guesser@example.com");
  const statuses = [];
  for (let count = 0; count < 31; count++) {
    statuses.push((await guesser.call("GET", "/v1/auth/device/BBBB-BBBB")).status);
  }
  expect(statuses).toEqual([...Array(30).fill(404), 429]);
  const { user_code } = await ask();
  expect((await agree(user_code, guesser)).status).toBe(429);
  expect((await agree(user_code)).status).toBe(201);
  const asked = await Promise.all(
    Array.from({ length: 60 }, () =>
      api.call("POST", "/v1/auth/device", { token: null, body: { label: "x" } }),
    ),
  );
  const full = asked.find(({ status }) => status === 429);
  expect(Number(full?.headers.get("retry-after"))).toBeGreaterThan(0);
});
