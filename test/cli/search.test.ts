import { afterAll, beforeEach, expect, test } from "bun:test";
import { changeRequest, fakeApi } from "../helpers/cli-api.ts";
import { svc } from "../helpers/cli-run.ts";
import { session } from "../helpers/cli-sessions.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (...line: string[]) => svc(["search", ...line], { env: api.env });

test("finds change requests in every state, and sessions", async () => {
  const ran = await run("login", "page");
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  const rows = ran.stdout.trimEnd().split("\n");
  expect(rows.map((row) => row.split("\t").slice(0, 3))).toEqual([
    ["cr", "3", "Fix the login page"],
    ["cr", "2", "Fix the login page"],
    ["session", session().session_id, "Login page"],
  ]);
  expect(api.seen.map(({ query }) => query)).toEqual([
    { status: "all", q: "login page", limit: "30" },
    { q: "login page", limit: "30" },
  ]);
});

test("says that nothing was found, and that there may be more", async () => {
  api.on("GET /projects/:p/change-requests", () => ({ change_requests: [] }));
  api.on("GET /projects/:p/sessions", () => ({ sessions: [] }));
  expect(await run("x")).toMatchObject({ code: 0, stdout: "", stderr: "Nothing was found.\n" });
  api.on("GET /projects/:p/change-requests", () => ({
    change_requests: [changeRequest(), changeRequest({ number: 4 })],
    next_cursor: "more",
  }));
  const cut = await run("x", "-L", "2");
  expect(cut.stdout.trimEnd().split("\n").length).toBe(2);
  expect(cut.stderr).toBe("At most 2 of each kind are shown: --limit shows more.\n");
});

test("needs words that the server searches for", async () => {
  for (const words of [[], [" "], ["x".repeat(257)]]) {
    const ran = await run(...words);
    expect([words, ran.code]).toEqual([words, 2]);
  }
  expect(api.seen).toEqual([]);
});
