import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Api, startApi } from "../helpers/api.ts";
import { type Browser, openBrowser, PASSWORD, signedIn } from "../helpers/cookie-browser.ts";
import { Remote } from "../helpers/remote.ts";

const AT = "/v1/accounts/sign-ins";
const ada = "first@example.com";
let api: Api;
let remote: Remote;
let streamPaths: string[];

beforeAll(async () => {
  api = await startApi();
  remote = new Remote();
  remote.commit("main", { a: "1\n" });
  const project = `/v1/projects/${(await api.project(remote.url)).project_id}`;
  // one that fails to start is there, too
  const { session_id } = (await api.call("POST", `${project}/sessions`, { body: {} })).body;
  const session = `${project}/sessions/${session_id}`;
  streamPaths = [`${project}/events`, `${session}/events`, `${session}/conversation/events`];
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

const signInsOf = async (browser: Browser) => (await browser.call("GET", AT)).body.sign_ins;

test("a user's browsers are listed, with this one marked, and nobody else's", async () => {
  const [one, two, other] = [await signedIn(api), await signedIn(api), await signedIn(api, "b@example.com")];
  const agent = `Mozilla/5.0 (${"x".repeat(300)})`;
  await signedInWith(agent);
  const all = await signInsOf(two);
  expect(all).toHaveLength(3);
  // the newest first
  expect(all.map(({ is_current }: { is_current: boolean }) => is_current)).toEqual([false, true, false]);
  expect(all[0]).toEqual({
    sign_in_id: expect.stringMatching(/^[\da-f-]{36}$/),
    user_agent: agent.slice(0, 256),
    address: "127.0.0.1",
    created_at: expect.any(String),
    last_used_at: expect.any(String),
    expires_at: expect.any(String),
    is_current: false,
  });
  const { created_at, last_used_at, expires_at } = all[0];
  expect(Math.abs(Date.parse(last_used_at) - Date.parse(created_at))).toBeLessThan(60_000);
  expect(Date.parse(expires_at) - Date.parse(last_used_at)).toBe(30 * 86_400_000);
  expect(await signInsOf(other)).toHaveLength(1);
  const byToken = (await api.call("GET", AT)).body.sign_ins;
  expect(byToken.map(({ is_current }: { is_current: boolean }) => is_current)).toEqual([false, false, false]);
  expect((await one.call("GET", AT)).text).not.toContain("svc_bs_");
});

test("a browser that is signed out is rejected, its streams end, and the others stay", async () => {
  const [one, two] = [await signedIn(api), await signedIn(api)];
  const headers = { Cookie: two.cookie ?? "", "X-Svc-Dashboard": "1" };
  const streams = await Promise.all(streamPaths.map((path) => fetch(api.url + path, { headers })));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  const current = (await signInsOf(two)).find(({ is_current }: { is_current: boolean }) => is_current);
  const stranger = await signedIn(api, "b@example.com");
  const path = `${AT}/${current.sign_in_id}`;
  expect((await stranger.call("DELETE", path)).status).toBe(404);
  expect((await two.call("GET", AT)).status).toBe(200);
  expect((await one.call("DELETE", path)).body).toEqual({ ok: true });
  expect((await two.call("GET", AT)).status).toBe(401);
  expect((await one.call("GET", AT)).status).toBe(200);
  // to its end, which the limit of the test bounds
  await Promise.all(streams.map((stream) => stream.text()));
  expect((await one.call("DELETE", path)).status).toBe(404);
});

async function signedInWith(agent: string): Promise<void> {
  const answer = await openBrowser(api).call("POST", "/v1/auth/sign-in", {
    body: { email: ada, password: PASSWORD },
    headers: { "User-Agent": agent },
  });
  expect(answer.status).toBe(200);
}
