import { afterAll, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeRequest, fakeApi, project } from "../helpers/cli-api.ts";
import { makeHome, svc } from "../helpers/cli-run.ts";
import { git } from "../helpers/remote.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

/** A clone that is on `fix_login-page`, which has these messages of commits more than `main` of the project. */
function clone(messages: readonly string[]) {
  const home = makeHome();
  const origin = join(home.home, "origin");
  const run = (folder: string, ...args: string[]) =>
    git(["-C", folder, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...args]);
  const commit = (folder: string, message: string) =>
    run(folder, "commit", "--quiet", "--allow-empty", "-m", message);
  git(["init", "--quiet", "-b", "main", origin]);
  commit(origin, "first");
  git(["clone", "--quiet", origin, home.cwd]);
  run(home.cwd, "switch", "--quiet", "-c", "fix_login-page");
  for (const message of messages) commit(home.cwd, message);
  api.on("GET /projects/:p", () => project({ repo_url: origin }));
  const head = () => run(home.cwd, "rev-parse", "HEAD").trim();
  return { home, run, commit, head };
}

const HEAD = ["--head", "fix_login-page"];
const open = (home: ReturnType<typeof makeHome>, ...flags: string[]) =>
  svc(["cr", "open", ...HEAD, ...flags], { home, env: api.env });
const sent = () => api.seen.find(({ method }) => method === "POST")?.body;

test("--fill takes title and description from the commits, as far as they are not given", async () => {
  const one = ["Fix the login page\n\nIt was broken\non phones."];
  const two = ["Fix the form", "Test it\n\nIn a browser."];
  const rows: [messages: string[], flags: string[], title: string, description: string][] = [
    [one, [], "Fix the login page", "It was broken\non phones."],
    [one, ["-t", "Mine"], "Mine", "It was broken\non phones."],
    [one, ["-b", ""], "Fix the login page", ""],
    [["Only a subject"], [], "Only a subject", ""],
    [two, [], "fix login page", "- Fix the form\n- Test it"],
    [["x".repeat(300)], [], "x".repeat(256), ""],
  ];
  for (const [messages, flags, title, description] of rows) {
    api.reset();
    const { home } = clone(messages);
    expect([flags, (await open(home, "--fill", ...flags)).code]).toEqual([flags, 0]);
    expect(sent()).toMatchObject({ title, description, head_ref: "fix_login-page" });
  }
});

test("--fill compares with the base that is given", async () => {
  const { home, run, commit } = clone(["One"]);
  run(home.cwd, "push", "--quiet", "origin", "HEAD:refs/heads/stable");
  commit(home.cwd, "Two");
  await open(home, "--fill", "--base", "stable");
  expect(sent()).toMatchObject({ title: "Two", base_ref: "stable" });
});

test("without commits, or without a clone, --fill opens nothing and says what to do", async () => {
  const { home } = clone([]);
  for (const [folder, head] of [
    [home, "fix_login-page"],
    [home, "no-such-branch"],
    [makeHome(), "fix_login-page"],
  ] as const) {
    const ran = await svc(["cr", "open", "--fill", "--head", head], { home: folder, env: api.env });
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("--fill found no commits of") });
  }
  expect(sent()).toBeUndefined();
});

test("without a title and a terminal, nothing is opened", async () => {
  const { home } = clone(["One"]);
  for (const flags of [[], ["--title", ""]]) {
    const ran = await open(home, ...flags);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("--title");
  }
  expect(sent()).toBeUndefined();
});

test("says what is neither committed nor pushed", async () => {
  const { home, head } = clone(["One"]);
  api.on("POST /projects/:p/change-requests", () =>
    changeRequest({ head_ref: "fix_login-page", head_commit_sha: head() }),
  );
  expect((await open(home, "--fill")).stderr).toContain("Next: svc cr show 3");
  writeFileSync(join(home.cwd, "new.txt"), "");
  api.on("POST /projects/:p/change-requests", () => changeRequest({ head_ref: "fix_login-page" }));
  const { stderr } = await open(home, "--fill");
  expect(stderr).toContain("1 change is not committed, so not part of it");
  expect(stderr).toContain("Commits are not pushed, so not part of it: git push origin HEAD");
});
