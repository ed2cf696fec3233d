import { afterAll, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { type Clock, deviceLogin } from "../../cli/commands/device-login.ts";
import { makeContext } from "../../cli/context.ts";
import { CliError } from "../../cli/failure.ts";
import { makeOutput } from "../../cli/output.ts";
import type { Target } from "../../cli/target.ts";
import { failure, fakeApi, TOKEN } from "../helpers/cli-api.ts";
import { fakeSystem, makeHome, spawnSvc, svc, textOf } from "../helpers/cli-run.ts";
import { until } from "../helpers/until.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const CODE = {
  device_code: "device-secret",
  user_code: "BCDF-GHJK",
  verification_uri: "https://svc.test/cli/authorize",
  verification_uri_complete: "https://svc.test/cli/authorize?code=BCDF-GHJK",
  expires_in: 600,
  interval: 5,
};

/** Signs in on a clock of its own, with these answers to the polls. */
async function signIn(polls: (() => Response | object)[], code: object = CODE) {
  const slept: number[] = [];
  let time = 0;
  const clock: Clock = {
    sleep: async (ms) => {
      slept.push(ms / 1000);
      time += ms;
    },
    now: () => time,
  };
  api.on("POST /auth/device", () => code);
  let at = 0;
  api.on("POST /auth/device/token", () => (polls[Math.min(at++, polls.length - 1)] ?? (() => undefined))());
  const system = fakeSystem({ env: { CI: "1" } });
  const data = { json: false, fields: null, jq: undefined };
  const out = makeOutput(system, data, { color: undefined, noColor: true, quiet: false });
  const globals = {
    host: undefined,
    project: undefined,
    help: false,
    color: undefined,
    "no-color": true,
    "no-input": true,
    quiet: false,
    timeout: 5,
  };
  const target: Target = {
    name: "team",
    url: api.url,
    dashboardUrl: undefined,
    accountId: undefined,
    token: undefined,
    tokenSource: null,
    source: "active",
  };
  const context = makeContext({ system, globals, out });
  const token = await deviceLogin(context, target, "svc on a laptop", clock).catch((error: unknown) => error);
  return { token, slept, err: system.err() };
}

const pending = () => failure("authorization_pending", "Not yet.", 400);
/** As RFC 8628 has it, without our sentence. */
const bare = (error: string) => () => Response.json({ error }, { status: 400 });

test("shows address and code, polls, and gets the token", async () => {
  const { token, slept, err } = await signIn([
    pending,
    bare("authorization_pending"),
    () => ({ access_token: TOKEN }),
  ]);
  expect(token).toBe(TOKEN);
  expect(slept).toEqual([5, 5, 5]);
  expect(err).toContain(CODE.verification_uri_complete);
  expect(err).toContain("BCDF-GHJK");
  expect(err).not.toContain("device-secret");
  expect(api.seen[0]?.body).toMatchObject({ label: "svc on a laptop" });
  expect(api.seen[1]?.body).toEqual({
    device_code: "device-secret",
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
  });
  expect(api.seen.every((call) => !call.headers.has("authorization"))).toBe(true);
});

test("slows down permanently on slow_down, and backs off on network errors", async () => {
  const { slept } = await signIn([
    bare("slow_down"),
    pending,
    () => new Response("", { status: 503 }),
    () => ({ token: TOKEN }),
  ]);
  expect(slept).toEqual([5, 10, 10, 20]);
});

test("limits the server's interval and expiry", async () => {
  const { token, slept } = await signIn([pending], { ...CODE, interval: 1e9, expires_in: 1e9 });
  expect(token).toMatchObject({ code: "login_failed" });
  expect(slept).toHaveLength(30);
  const { slept: quick } = await signIn([() => ({ token: TOKEN })], { ...CODE, interval: undefined });
  expect(quick).toEqual([5]);
});

test.each([
  ["access_denied", "denied in the browser"],
  ["expired_token", "expired before"],
])("ends on %s", async (code, says) => {
  const { token, slept } = await signIn([pending, bare(code)]);
  expect(token).toBeInstanceOf(CliError);
  expect(token).toMatchObject({ code: "login_failed", message: expect.stringContaining(says) });
  expect(slept).toHaveLength(2);
});

test("ends when the code expires", async () => {
  const { token, slept } = await signIn([pending], { ...CODE, expires_in: 12 });
  expect(token).toMatchObject({ code: "login_failed", message: expect.stringContaining("expired before") });
  expect(slept).toEqual([5, 5, 5]);
});

test.each([
  ["no code", { ...CODE, device_code: undefined }],
  ["an address that is none", { ...CODE, verification_uri: "javascript:alert(1)" }],
  ["no end", { ...CODE, expires_in: "soon" }],
])("rejects a response with %s", async (_, code) => {
  expect((await signIn([pending], code)).token).toMatchObject({ code: "unexpected_response" });
});

test("end to end: svc login stores the token", async () => {
  const home = makeHome();
  api.on("POST /auth/device", () => ({ ...CODE, interval: 0.05 }));
  let polls = 0;
  api.on("POST /auth/device/token", () => (++polls < 3 ? pending() : { access_token: TOKEN }));
  const ran = await svc(["login", "--host", "team", "--api", api.url], { home });
  expect(ran).toMatchObject({ code: 0, stdout: "Signed in to team as ada@example.com.\n" });
  expect(JSON.parse(readFileSync(home.config, "utf8")).hosts.team.token).toBe(TOKEN);
});

test("Ctrl-C while waiting leaves nothing", async () => {
  const home = makeHome();
  api.on("POST /auth/device", () => ({ ...CODE, interval: 0.05 }));
  api.on("POST /auth/device/token", pending);
  const child = spawnSvc(["login", "--api", api.url], { home });
  await until("it polls", () => api.seen.length >= 3);
  child.kill("SIGINT");
  await child.exited;
  expect(child.signalCode).toBe("SIGINT");
  expect(await textOf(child.stdout)).toBe("");
  expect(existsSync(home.config)).toBe(false);
});
