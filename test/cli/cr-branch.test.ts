import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  ACCOUNT_ID,
  changeRequest,
  comment,
  failure,
  fakeApi,
  PROJECT_ID,
  project,
  TOKEN,
} from "../helpers/cli-api.ts";
import { makeHome, svc, svcOnTerminal } from "../helpers/cli-run.ts";
import { SESSION_ID } from "../helpers/cli-sessions.ts";
import { git } from "../helpers/remote.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const LIST = "GET /projects/:p/change-requests";
const THREAD = comment().comment_id;
const SEVEN = changeRequest({ number: 7, title: "Of the branch" });

/** The server has these, and lists them as it is asked to. */
function has(...crs: ReturnType<typeof changeRequest>[]) {
  api.on(LIST, ({ query: { status, head_ref } }) => ({
    change_requests: crs.filter(
      (cr) =>
        (status === "all" || cr.status === status) && (head_ref === undefined || cr.head_ref === head_ref),
    ),
  }));
}

/** A session whose branch is `fix-login`. */
const SESSION = { ...api.env, SVC_SESSION_ID: SESSION_ID, SVC_BRANCH_NAME: "fix-login" };
const inSession = (line: readonly string[], stdin = "") => svc(line, { env: SESSION, stdin });

/** A directory on the branch `fix-login`, with svc's configuration. */
function workTree() {
  const home = makeHome();
  git(["init", "--quiet", "-b", "fix-login", home.cwd]);
  mkdirSync(join(home.home, ".config/svc"), { recursive: true });
  writeFileSync(
    home.config,
    JSON.stringify({ active: "test", hosts: { test: { url: api.url, token: TOKEN } } }),
  );
  return home;
}

function linked() {
  const home = workTree();
  mkdirSync(join(home.cwd, ".svc"));
  const link = { host: "test", host_url: api.url, project_id: PROJECT_ID, account_id: ACCOUNT_ID };
  writeFileSync(join(home.cwd, ".svc/link.json"), JSON.stringify(link));
  return home;
}

test.each([
  ["show", []],
  ["diff", []],
  ["files", []],
  ["merge", []],
  ["close", []],
  ["edit", ["--title", "x"]],
  ["heads", []],
  ["comments", []],
  ["checks", []],
  ["approve", []],
  ["review", ["--approve"]],
  ["send", []],
  ["update-branch", []],
  ["resolve-conflicts", []],
  ["comment", ["--body", "Nice."]],
  ["comment", ["It is nice."]],
  ["comment", ["-"]],
  ["reply", [THREAD, "Done."]],
  ["resolve", [THREAD]],
  ["apply", [THREAD]],
] as [verb: string, args: string[]][])("cr %s %j is about that of the branch", async (verb, args) => {
  has(SEVEN);
  const ran = await inSession(["cr", verb, ...args], "Text\n");
  expect([ran.code, ran.stderr.split("\n")[0]]).toEqual([0, "Using #7, of the branch fix-login"]);
  const [list, ...others] = api.seen;
  expect(list?.query).toMatchObject({ status: "open", head_ref: "fix-login" });
  const about = others.filter(({ path }) => !path.includes("/commits/"));
  expect(about.length).toBeGreaterThan(0);
  for (const { path } of about) expect(path).toContain("/change-requests/7");
});

test("reopen is about the closed one of the branch", async () => {
  has(SEVEN, changeRequest({ number: 6, status: "closed" }));
  const ran = await inSession(["cr", "reopen"]);
  expect([ran.code, api.seen.at(-1)?.path]).toEqual([0, `/projects/${PROJECT_ID}/change-requests/6/reopen`]);
  has(SEVEN);
  expect(await inSession(["cr", "reopen"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There is no closed change request of the branch fix-login."),
  });
});

test("without an open one it is the newest; without any, and with several open ones, nothing runs", async () => {
  has(changeRequest({ number: 6, status: "merged" }), changeRequest({ number: 5, status: "closed" }));
  await inSession(["cr", "show"]);
  expect(api.seen.at(-1)?.path).toContain("/change-requests/6");
  has(changeRequest({ number: 5, head_ref: "other" }));
  const none = await inSession(["cr", "show"]);
  expect(none).toMatchObject({ code: 1, stdout: "" });
  expect(none.stderr).toContain("There is no change request of the branch fix-login.");
  api.seen.length = 0;
  has(SEVEN, changeRequest({ number: 8, base_ref: "stable" }));
  const several = await inSession(["cr", "merge"]);
  expect(several).toMatchObject({ code: 2, stdout: "" });
  expect(several.stderr).toContain("#7 (into main), #8 (into stable)");
  expect(api.seen.map(({ method }) => method)).toEqual(["GET"]);
});

test("the current branch counts in a clone of the project, and not where the project is named", async () => {
  has(SEVEN);
  const link = linked();
  expect((await svc(["cr", "show", "--jq", ".number"], { home: link })).code).toBe(0);
  expect(api.seen.at(-1)?.path).toContain("/change-requests/7");
  const byRemote = workTree();
  api.on("GET /projects", () => ({ projects: [project()] }));
  git(["-C", byRemote.cwd, "remote", "add", "origin", project().repo_url]);
  const found = await svc(["cr", "diff"], { home: byRemote });
  expect([found.code, api.seen.at(-1)?.path]).toEqual([0, `/projects/${PROJECT_ID}/change-requests/7/diff`]);
  api.seen.length = 0;
  const named = await svc(["cr", "merge", "--project", "shop"], { home: link });
  expect(named).toMatchObject({ code: 2, stdout: "" });
  expect(named.stderr).toContain("In a shell, # starts a comment");
  git(["-C", link.cwd, "config", "user.email", "ada@example.com"]);
  git(["-C", link.cwd, "config", "user.name", "Ada"]);
  git(["-C", link.cwd, "commit", "--quiet", "--allow-empty", "-m", "x"]);
  git(["-C", link.cwd, "switch", "--quiet", "--detach"]);
  expect((await svc(["cr", "merge"], { home: link })).code).toBe(2);
  expect(api.seen).toEqual([]);
});

test("a change request is also named by its id, in any case, and by nothing else", async () => {
  const id = "4444aaaa-9999-4444-9999-0123456789ab";
  await inSession(["cr", "diff", id.toUpperCase()]);
  expect(api.seen.map(({ path }) => path)).toEqual([`/projects/${PROJECT_ID}/change-requests/${id}/diff`]);
  for (const other of [`x${id}`, `${id}x`, id.slice(1), "1234567890", "03", "3x"])
    expect([other, (await inSession(["cr", "diff", other])).code]).toEqual([other, 2]);
  expect(api.seen.length).toBe(1);
});

test("an empty variable is not the current branch, and a word is not the text of a comment", async () => {
  has(SEVEN);
  for (const line of [
    ["merge", ""],
    ["close", ""],
    ["close", "7", ""],
    ["comment", "list"],
    ["comment", "list", "x"],
  ]) {
    const ran = await inSession(["cr", ...line]);
    expect([line, ran.code, ran.stdout]).toEqual([line, 2, ""]);
  }
  for (const line of [["reply", THREAD], ["resolve"]]) {
    const ran = await inSession(["cr", ...line]);
    expect([line, ran.code, ran.stderr]).toEqual([line, 2, expect.stringContaining("needs <")]);
  }
  for (const line of [
    ["reply", "7", "Done."],
    ["resolve", "7"],
    ["apply", "7"],
  ]) {
    const ran = await inSession(["cr", ...line]);
    expect([line, ran.code, ran.stderr]).toEqual([line, 2, expect.stringContaining("Not a comment: 7")]);
  }
  expect(api.seen).toEqual([]);
});

test("on a terminal, merge asks before it merges that of the branch, and not for one that is named", async () => {
  has(SEVEN);
  const merges = () =>
    api.seen.filter(({ path }) => path.endsWith("/merge")).map(({ path }) => path.split("/").at(-2));
  const home = linked();
  const refused = svcOnTerminal(["cr", "merge"], { home });
  await refused.shows("Merge #7 Of the branch into main?");
  refused.type("n\r");
  expect((await refused.exited).code).toBe(1);
  expect(merges()).toEqual([]);
  const merged = svcOnTerminal(["cr", "merge"], { home });
  await merged.shows("Merge #7");
  merged.type("y\r");
  expect((await merged.exited).code).toBe(0);
  expect((await svcOnTerminal(["cr", "merge", "3"], { home }).exited).code).toBe(0);
  expect(merges()).toEqual(["7", "3"]);
});

test("close closes each that is named, once, and reports those that it cannot close", async () => {
  api.on("POST /projects/:p/change-requests/:n/close", ({ path }) => {
    const number = Number(path.split("/").at(-2));
    if (number % 2 === 0) return failure("already_merged", `#${number} is merged.`, 409);
    return changeRequest({ number, status: "closed" });
  });
  const closed = () => api.seen.map(({ path }) => path.split("/").at(-2));
  const run = (...numbers: string[]) => svc(["cr", "close", ...numbers], { env: api.env });
  const all = await run("3", "#5", "3");
  expect([all.code, closed()]).toEqual([0, ["3", "5"]]);
  expect(all.stdout).toBe("#3 Fix the login page: closed\n#5 Fix the login page: closed\n");
  api.reset();
  api.on("POST /projects/:p/change-requests/:n/close", ({ path }) => {
    const number = Number(path.split("/").at(-2));
    if (number % 2 === 0) return failure("already_merged", `#${number} is merged.`, 409);
    return changeRequest({ number, status: "closed" });
  });
  const some = await run("2", "3", "4", "5", "--json=number");
  expect([some.code, some.stdout, closed()]).toEqual([
    1,
    '[{"number":3},{"number":5}]\n',
    ["2", "3", "4", "5"],
  ]);
  expect(JSON.parse(some.stderr).error).toMatchObject({
    code: "already_merged",
    message: "2 change requests could not be closed:\n  2: #2 is merged.\n  4: #4 is merged.",
  });
  expect((await run("2", "3")).stderr).toContain(
    "error: 1 change request could not be closed:\n  2: #2 is merged.",
  );
  expect(await run("2", "4", "--json")).toMatchObject({ code: 1, stdout: "" });
  expect(await run("2")).toMatchObject({ code: 1, stderr: expect.stringContaining("error: #2 is merged.") });
  api.seen.length = 0;
  expect((await run("3", "x")).code).toBe(2);
  expect(api.seen).toEqual([]);
});
