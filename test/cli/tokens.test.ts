import { afterAll, beforeEach, expect, test } from "bun:test";
import { fakeApi, PROJECT_ID } from "../helpers/cli-api.ts";
import { makeHome, svc } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const ID = "7f3a0000-0000-4000-8000-000000000001";
const PLACES = [
  ["/accounts/tokens", []],
  [`/projects/${PROJECT_ID}/cli-token`, ["--for-project"]],
] as const;
const run = (...args: string[]) => svc(["tokens", ...args], { home: makeHome(), env: api.env });
const last = () => api.seen.at(-1);

test.each(PLACES)("tokens at %s are listed, created and revoked", async (path, flags) => {
  const listed = await run("ls", ...flags);
  expect([listed.code, listed.stderr]).toEqual([0, ""]);
  expect(listed.stdout.split("\t")[0]).toBe(ID);
  const made = await run("new", "ci", "--scope", "read", "--scope", "checks", "--scope", "read", ...flags);
  expect([made.code, made.stdout]).toEqual([0, "svc_pat_new\n"]);
  expect(last()).toMatchObject({ method: "POST", path, body: { name: "ci", scopes: ["read", "checks"] } });
  expect((await run("revoke", "7F3a", ...flags)).stdout).toStartWith("Revoked the token 7f3a0000, ");
  expect(last()).toMatchObject({ method: "DELETE", path: `${path}/${ID}` });
});

test.each([
  [[], 90],
  [["--days", "1"], 1],
  [["--days", "0"], null],
])("a new token with %j expires after %p days", async (flags, days) => {
  const before = Date.now();
  await run("new", "x", ...flags);
  const { scopes, expires_at } = Object(last()?.body) as { scopes?: unknown; expires_at?: string };
  expect(scopes).toBeUndefined();
  if (days === null) return expect(expires_at).toBeUndefined();
  const left = Date.parse(expires_at ?? "") - before;
  expect(left / 86_400_000).toBeWithin(days, days + 0.01);
});

test("a token is found by the beginning of its id only if there is one", async () => {
  expect(await run("revoke", "8")).toMatchObject({ code: 1, stderr: expect.stringContaining("no token") });
  api.on("GET /accounts/tokens", () => ({
    tokens: [{ token_id: ID }, { token_id: ID.replace("01", "02") }],
  }));
  expect(await run("revoke", "7f")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Several ids"),
  });
  expect(last()?.method).toBe("GET");
});

test("browsers are listed and signed out", async () => {
  const signIns = (...args: string[]) => svc(["sign-ins", ...args], { home: makeHome(), env: api.env });
  expect((await signIns("ls")).stdout).toStartWith("8f3a0000-");
  expect(await signIns("end", "8F")).toMatchObject({ code: 0, stdout: "Signed out the browser 8f3a0000.\n" });
  expect(last()).toMatchObject({
    method: "DELETE",
    path: "/accounts/sign-ins/8f3a0000-0000-4000-8000-000000000001",
  });
});
