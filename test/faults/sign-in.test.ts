import { afterAll, beforeAll, expect } from "bun:test";
import { DEVICE_GRANT } from "../../src/contract/device.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { openBrowser, PASSWORD, signedIn } from "../helpers/cookie-browser.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";

const test = needs("a real Postgres", POSTGRES);
let database: TestDatabase;
let servers: Api[] = [];

beforeAll(async () => {
  if (!POSTGRES) return;
  database = await createDatabase();
  const env = { DATABASE_URL: database.url, SVC_MASTER_KEY: "ab".repeat(32) };
  servers = [await startApi({ env }), await startApi({ env })];
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await database?.drop();
});

/** The servers in turn. */
const at = (turn: number): Api => {
  const server = servers[turn % servers.length];
  if (!server) throw new Error("no server");
  return server;
};

test("a browser that signed in at one server is signed in at the other, and signed out at both", async () => {
  const browser = await signedIn(at(0));
  const other = openBrowser(at(1));
  other.cookie = browser.cookie;
  expect((await other.call("GET", "/v1/accounts/me")).body.email).toBe("first@example.com");
  await other.call("POST", "/v1/auth/sign-out");
  expect((await browser.call("GET", "/v1/accounts/me")).status).toBe(401);
});

test("a device's token is returned once, by either server", async () => {
  const browser = await signedIn(at(0));
  for (let round = 0; round < 5; round++) {
    const asked = await at(round).call("POST", "/v1/auth/device", { token: null, body: { label: "x" } });
    const { device_code, user_code: device_user_code } = asked.body;
    const body = { name: `round ${round}`, device_user_code };
    const agreed = await Promise.all(
      servers.map((server) => {
        const page = openBrowser(server);
        page.cookie = browser.cookie;
        return page.call("POST", "/v1/accounts/tokens", { body });
      }),
    );
    expect(agreed.map(({ status }) => status).sort()).toEqual([201, 404]);
    const poll = { device_code, grant_type: DEVICE_GRANT };
    const polls = await Promise.all(
      Array.from({ length: 8 }, (_, turn) =>
        at(turn).call("POST", "/v1/auth/device/token", { token: null, body: poll }),
      ),
    );
    expect(polls.filter(({ status }) => status === 200)).toHaveLength(1);
    const { tokens } = (await browser.call("GET", "/v1/accounts/tokens?limit=200")).body;
    expect(tokens.filter(({ name }: { name: string }) => name === body.name)).toHaveLength(1);
  }
});

test("wrong passwords count across servers", async () => {
  const email = "guessed@example.com";
  await signedIn(at(0), email);
  const guess = (turn: number, password: string) =>
    openBrowser(at(turn)).call("POST", "/v1/auth/sign-in", { body: { email, password } });
  const statuses = await Promise.all(
    Array.from({ length: 14 }, async (_, turn) => (await guess(turn, "no")).status),
  );
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(4);
  expect([(await guess(0, PASSWORD)).status, (await guess(1, PASSWORD)).status]).toEqual([429, 429]);
});
