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

test("needs a search that the server can read", async () => {
  for (const words of [[], [" "], ["x".repeat(257)], ["is:opne"], ["http://x"]]) {
    const ran = await run(...words);
    expect([words, ran.code]).toEqual([words, 2]);
  }
  expect(api.seen).toEqual([]);
});

test("qualifiers find change requests only", async () => {
  const ran = await run("is:merged", "login");
  expect([ran.code, ran.stdout.split("\n").map((row) => row.split("\t")[0])]).toEqual([0, ["cr", "cr", ""]]);
  expect(api.seen.map(({ path, query }) => [path.split("/").at(-1), query])).toEqual([
    ["change-requests", { status: "all", q: "is:merged login", limit: "30" }],
  ]);
});

test("the flags of cr ls are one search", async () => {
  const rows: [line: string[], query: Record<string, string>][] = [
    [[], { status: "open" }],
    [["-S", "fix login"], { status: "open", q: "fix login" }],
    [["--search", "is:closed x"], { status: "all", q: "is:closed x" }],
    [["--search", "is:draft"], { status: "open", q: "is:draft" }],
    [["--search", "is:closed", "-s", "open"], { status: "open", q: "is:closed" }],
    [["-A", "@me", "-B", "main", "-H", "fix"], { status: "open", q: "author:@me base:main head:fix" }],
    [["--author", "Ada L", "--draft"], { status: "open", q: 'author:"Ada L" is:draft' }],
    [["-S", "x sort:created-asc"], { status: "open", q: "x sort:created-asc" }],
    [["-S", "x sort:created-asc", "--sort", "updated-desc"], { status: "open", q: "x sort:updated-desc" }],
  ];
  for (const [line, query] of rows) {
    api.reset();
    const ran = await svc(["cr", "ls", ...line], { env: api.env });
    const { limit, ...asked } = api.seen[0]?.query ?? {};
    expect([line, ran.code, asked]).toEqual([line, 0, query]);
  }
});

test("a search that cannot be read is answered before the server is asked", async () => {
  const ran = await svc(["cr", "ls", "--search", "auhtor:me"], { env: api.env });
  expect([ran.code, ran.stdout]).toEqual([2, ""]);
  expect(ran.stderr).toContain("Did you mean `author:`?");
  expect(api.seen).toEqual([]);
});
