import { afterAll, beforeEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeRequest, fakeApi, project } from "../helpers/cli-api.ts";
import { makeHome, svc, svcOnTerminal } from "../helpers/cli-run.ts";
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

const TEMPLATES = [
  {
    name: "change_request_template",
    path: ".svc/change_request_template.md",
    body: "## Why\n",
    is_default: true,
  },
  { name: "release", path: "PULL_REQUEST_TEMPLATE/release.md", body: "## Release\n", is_default: false },
];
const withTemplates = () => {
  api.reset();
  api.on("GET /projects/:p/change-request-templates", () => ({ templates: TEMPLATES }));
  return clone(["Fix it\n\nIt was broken."]).home;
};

test("--template begins the description with the named one; without it, scripts get none", async () => {
  const rows: [flags: string[], title: string, description: string | undefined][] = [
    [["-t", "T", "--template", "release"], "T", "## Release\n"],
    [["-t", "T", "-T", "release.md"], "T", "## Release\n"],
    [["-t", "T", "-T", ".svc/change_request_template.md"], "T", "## Why\n"],
    [["--fill", "-T", "release"], "Fix it", "## Release\n"],
    [["--fill"], "Fix it", "It was broken."],
    [["-t", "T"], "T", undefined],
  ];
  for (const [flags, title, description] of rows) {
    const home = withTemplates();
    expect([flags, (await open(home, ...flags)).code]).toEqual([flags, 0]);
    expect([flags, sent()]).toEqual([
      flags,
      { title, head_ref: "fix_login-page", ...(description !== undefined && { description }) },
    ]);
  }
});

test("a template that the base does not have, and one beside a description, open nothing", async () => {
  const home = withTemplates();
  const unknown = await open(home, "-t", "T", "--template", "no");
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("change_request_template, release"),
  });
  const both = await open(home, "-t", "T", "-T", "release", "-b", "mine");
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be used together") });
  expect(sent()).toBeUndefined();
});

test("--editor opens the title and the template, or the commits, and reads them back", async () => {
  const rows: [flags: string[], shown: string][] = [
    [[], "Fix it\n\n## Why\n"],
    [["-t", "T", "-T", "release"], "T\n\n## Release\n"],
    [["--fill"], "Fix it\n\nIt was broken."],
    [["-b", "mine"], "Fix it\n\nmine"],
  ];
  for (const [flags, shown] of rows) {
    const home = withTemplates();
    const copy = join(home.home, "shown");
    // a line of the shell, with a quoted argument
    const EDITOR = `sh -c 'cp "$1" "${copy}"; printf "Mine\\n\\n- text\\n" > "$1"' "an editor"`;
    const ran = await svc(["cr", "open", ...HEAD, "--editor", ...flags], {
      home,
      env: { ...api.env, EDITOR },
    });
    expect([flags, ran.code, ran.stderr]).toEqual([flags, 0, expect.any(String)]);
    expect([flags, readFileSync(copy, "utf8")]).toEqual([flags, shown]);
    expect(sent()).toMatchObject({ title: "Mine", description: "- text" });
  }
});

test("an empty text, an editor that fails and no editor open nothing", async () => {
  for (const [env, says] of [
    [{ EDITOR: "sh -c ': > \"$1\"' x" }, "Cancelled: the text is empty."],
    [{ VISUAL: "false", EDITOR: "true" }, "Cancelled: the editor ended with 1: false."],
    [{}, "Set EDITOR"],
  ] as const) {
    const home = withTemplates();
    const ran = await svc(["cr", "open", ...HEAD, "--editor"], { home, env: { ...api.env, ...env } });
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain(says);
    expect(sent()).toBeUndefined();
  }
});

test("on a terminal, the template is offered after the title", async () => {
  const home = withTemplates();
  const env = { ...api.env, NO_COLOR: "1" };
  const terminal = svcOnTerminal(["cr", "open", ...HEAD], { home, env });
  await terminal.shows("Title");
  terminal.type("\r");
  await terminal.shows("The project has a template of the description");
  terminal.type("\u001b[B\r");
  expect(await terminal.exited).toMatchObject({ code: 0 });
  expect(sent()).toMatchObject({ title: "Fix it", description: "## Why\n" });
});
