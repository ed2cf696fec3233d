import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type Api, startApi } from "../helpers/api.ts";
import { makeHome, svc, svcOnTerminal } from "../helpers/cli-run.ts";
import { type Browser, signedIn } from "../helpers/cookie-browser.ts";

let api: Api;
let browser: Browser;
beforeAll(async () => {
  api = await startApi();
  browser = await signedIn(api);
});
afterAll(() => api.stop());

/** `svc login` on a terminal, until it shows the code. */
async function login() {
  const home = makeHome();
  const env = { CI: "1", SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" };
  const terminal = svcOnTerminal(["login", "--host", "here", "--api", api.url], { home, env });
  await terminal.shows("Waiting for confirmation");
  const code = /Code +([A-Z]{4}-[A-Z]{4})/.exec(Bun.stripANSI(terminal.screen()))?.[1] ?? "";
  const page = /Open +(\S+)/.exec(Bun.stripANSI(terminal.screen()))?.[1] ?? "";
  return { home, terminal, code, page };
}

// A poll comes every five seconds: both wait at once.
test.concurrent("svc login gets a token when the browser approves, and svc logout revokes it", async () => {
  const { home, terminal, code, page } = await login();
  expect(page).toBe(`${api.url.replace("127.0.0.1", "localhost")}/cli/authorize?code=${code}`);
  const { body: asked } = await browser.call("GET", `/v1/auth/device/${code}`);
  expect(asked.label).toStartWith("svc on ");
  const body = { name: asked.label, device_user_code: code };
  expect((await browser.call("POST", "/v1/accounts/tokens", { body })).body).toEqual({
    status: "approved",
    name: asked.label,
  });
  expect(await terminal.exited).toEqual({ code: 0, signal: null });
  expect(Bun.stripANSI(terminal.screen())).toContain("Signed in to here as first@example.com.");

  const { token } = JSON.parse(readFileSync(home.config, "utf8")).hosts.here;
  expect(token).toMatch(/^svc_pat_/);
  expect((await svc(["whoami", "--jq", ".email"], { home })).stdout).toBe("first@example.com\n");
  const { body: listed } = await browser.call("GET", "/v1/accounts/tokens");
  expect(listed.tokens.map(({ name }: { name: string }) => name)).toContain(asked.label);

  const out = await svc(["logout"], { home });
  expect(out).toMatchObject({ code: 0, stdout: "Signed out of here.\n", stderr: "" });
  expect((await api.call("GET", "/v1/auth/whoami", { token })).status).toBe(401);
});

test.concurrent("svc login stores nothing when the browser denies", async () => {
  const { home, terminal, code } = await login();
  expect((await browser.call("POST", `/v1/auth/device/${code}/deny`)).status).toBe(200);
  expect(await terminal.exited).toMatchObject({ code: 1 });
  expect(Bun.stripANSI(terminal.screen())).toContain("denied in the browser; nothing was stored");
  expect(() => readFileSync(home.config)).toThrow();
});

test("a refused token for a new address: the hint names a command that works for it", async () => {
  const home = makeHome();
  const ran = await svc(["login", "--api", api.url, "--token", "svc_pat_unknown"], { home });
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain(`Sign in with \`svc login --api ${api.url}/v1\``);
  expect(ran.stderr).not.toContain("--host");
});

test("a token revokes itself, and a browser has no token to revoke", async () => {
  const { body } = await api.call("POST", "/v1/accounts/tokens", { body: { name: "x" } });
  const revoke = (token: string) => api.call("POST", "/v1/auth/revoke", { token });
  expect([(await revoke(body.token)).body, (await revoke(body.token)).status]).toEqual([{ ok: true }, 401]);
  expect((await browser.call("POST", "/v1/auth/revoke")).status).toBe(403);
});
