import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { ACCOUNT_ID, fakeApi, ME, TOKEN } from "../helpers/cli-api.ts";
import { expectDocumentedFields } from "../helpers/cli-fields.ts";
import { MEMBERS } from "../helpers/cli-members.ts";
import { makeHome, svc } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const OTHER = "22222222-2222-4222-8222-00000000000b";
const [ADA, BOB] = MEMBERS;
const AT = `/accounts/${ACCOUNT_ID}`;
const last = () => api.seen.at(-1);
const withOther = () =>
  api.on("GET /accounts/me", () => ({
    ...ME,
    accounts: [...ME.accounts, { account_id: OTHER, name: "Acme", slug: "acme", role: "member", tier: "x" }],
  }));

/** Runs a command with a token of `svc login`. */
async function signedIn() {
  const home = makeHome();
  const host = { url: api.env["SVC_API_URL"] ?? "", token: TOKEN };
  mkdirSync(`${home.home}/.config/svc`, { recursive: true });
  await Bun.write(home.config, JSON.stringify({ active: "team", hosts: { team: host } }));
  const run = (...args: string[]) => svc(args, { home });
  return { run, stored: async () => (await Bun.file(home.config).json()).hosts.team };
}

test("a member is found by address in any case, or by the beginning of the id", async () => {
  const run = (...args: string[]) => svc(["members", ...args], { env: api.env });
  for (const wanted of ["ada@EXAMPLE.com", "9a1b", ADA?.user_id ?? ""]) {
    expect((await run("role", wanted, "admin")).stdout).toBe(
      "The role of ada@example.com in Ada's is admin.\n",
    );
    const path = `${AT}/members/${ADA?.user_id}`;
    expect(last()).toMatchObject({ method: "PATCH", path, body: { role: "admin" } });
  }
  expect(await run("rm", "bob@example.com", "--yes")).toMatchObject({
    code: 0,
    stdout: "Removed bob@example.com from Ada's.\n",
  });
  expect(last()).toMatchObject({ method: "DELETE", path: `${AT}/members/${BOB?.user_id}` });
  for (const [wanted, why] of [
    ["9a1", "Several ids begin with"],
    ["eve@example.com", "There is no member"],
  ] as const) {
    expect(await run("rm", wanted, "--yes")).toMatchObject({ code: 1, stderr: expect.stringContaining(why) });
    expect(last()?.method).toBe("GET");
  }
  expect(await run("rm", "9a1b")).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
});

test("an invitation is for one address or for anyone, and only its link is printed", async () => {
  const run = (...args: string[]) => svc(["members", ...args], { env: api.env });
  const link = "https://svc.example/welcome?token=svc_ln_new\n";
  const anyone = await run("invite");
  expect(anyone).toMatchObject({
    stdout: link,
    stderr: expect.stringContaining("Anyone with this link can join"),
  });
  expect(last()).toMatchObject({ method: "POST", path: `${AT}/invitations`, body: { role: "member" } });
  expect((await run("invite", "eve@example.com", "--role", "admin")).stdout).toBe(link);
  expect(last()?.body).toEqual({ role: "admin", email: "eve@example.com" });
  expect((await run("invitations")).stdout).not.toContain("svc_ln_");
  expect((await run("withdraw", "6b")).stdout).toBe("Withdrew the invitation 6b1b0000.\n");
  expect(last()).toMatchObject({ method: "DELETE" });
});

test.each([
  [["--name", "New"], { name: "New" }],
  [["--budget", "0.5", "--session-budget", "none"], { model_budget: 0.5, model_session_budget: null }],
  [["--budget", "-1"], null],
  [["--budget", "1e3"], null],
])("an account is edited with %j", async (flags, body) => {
  const ran = await svc(["accounts", "edit", ...flags], { env: api.env });
  expect(ran.code).toBe(body === null ? 2 : 0);
  if (body === null) return expect(api.seen).toEqual([]);
  expect(last()).toMatchObject({ method: "PATCH", path: AT, body });
});

test("the active account is stored, and commands without --account use it", async () => {
  withOther();
  const { run, stored } = await signedIn();
  expect((await run("accounts", "ls", "--jq", "map(.active)")).stdout).toBe("[true,false]\n");
  const switched = await run("accounts", "switch", "acme", "--json");
  expectDocumentedFields(["accounts", "switch"], switched.stdout);
  expect(await stored()).toMatchObject({ account_id: OTHER, token: TOKEN });
  expect((await run("accounts", "ls", "--jq", "map(.active)")).stdout).toBe("[false,true]\n");
  await run("projects", "new", "shop");
  expect(last()?.body).toMatchObject({ name: "shop", account_id: OTHER });
  await run("projects", "new", "shop", "--account", "ada");
  expect(last()?.body).toMatchObject({ name: "shop", account_id: ACCOUNT_ID });
  await run("members", "ls", "--account", "ada");
  expect(last()?.path).toBe(`${AT}/members`);
  await run("projects", "ls", "--account", "acme");
  expect(last()?.query).toMatchObject({ account_id: OTHER });
  expect(await run("accounts", "switch", "nobody")).toMatchObject({ code: 1 });
  expect(await run("accounts", "switch")).toMatchObject({ code: 2 });
  expect(await stored()).toMatchObject({ account_id: OTHER });
});

test("with a token of the environment no account is stored", async () => {
  const home = makeHome();
  const ran = await svc(["accounts", "switch", "ada"], { home, env: api.env });
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("SVC_CLI_TOKEN") });
  expect(await Bun.file(home.config).exists()).toBe(false);
});
