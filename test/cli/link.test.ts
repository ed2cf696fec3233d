import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fakeApi, PROJECT_ID, TOKEN } from "../helpers/cli-api.ts";
import { makeHome, svc } from "../helpers/cli-run.ts";
import { git } from "../helpers/remote.ts";

const api = fakeApi();
afterAll(() => api.stop());

const env = { SVC_API_URL: api.url, SVC_CLI_TOKEN: TOKEN };

function repository() {
  const home = makeHome();
  const run = (...args: string[]) => git(["-C", home.cwd, ...args]);
  run("init", "--quiet", "-b", "main");
  writeFileSync(join(home.cwd, "a"), "1\n");
  run("add", "--all");
  run("commit", "--quiet", "--message", "first");
  return { home, run };
}

const link = (home: ReturnType<typeof makeHome>, cwd = home.cwd) =>
  svc(["projects", "link", PROJECT_ID], { home, cwd, env });

test.each<[string, (run: (...args: string[]) => string, cwd: string) => string]>([
  ["the top folder", (_, cwd) => cwd],
  ["a subfolder", (_, cwd) => join(cwd, "sub")],
  [
    "a linked work tree",
    (run, cwd) => {
      run("worktree", "add", "--quiet", "../other");
      return join(cwd, "../other");
    },
  ],
  [
    "a clone without info/exclude",
    (run, cwd) => {
      run("config", "core.quotePath", "false");
      Bun.spawnSync(["rm", "-r", join(cwd, ".git/info")]);
      return cwd;
    },
  ],
  [
    "a clone whose info/exclude has no line feed at its end",
    (_, cwd) => {
      mkdirSync(join(cwd, ".git/info"), { recursive: true });
      writeFileSync(join(cwd, ".git/info/exclude"), "*.log");
      writeFileSync(join(cwd, "x.log"), "");
      return cwd;
    },
  ],
])("a link in %s is not seen by git, however often it is written", async (_, arrange) => {
  const { home, run } = repository();
  const folder = arrange(run, home.cwd);
  mkdirSync(folder, { recursive: true });
  for (let time = 0; time < 2; time++) expect(await link(home, folder)).toMatchObject({ code: 0 });
  expect(existsSync(join(folder, ".svc/link.json"))).toBe(true);
  expect(git(["-C", folder, "status", "--porcelain", "--untracked-files=all"])).toBe("");
  const exclude = readFileSync(join(home.cwd, ".git/info/exclude"), "utf8");
  expect(exclude.split("\n").filter((line) => line === "**/.svc/link.json")).toHaveLength(1);
  // the rest of .svc belongs to the repository
  writeFileSync(join(folder, ".svc/Dockerfile"), "FROM debian\n");
  expect(git(["-C", folder, "status", "--porcelain", "--untracked-files=all"])).toMatch(
    /\.svc\/Dockerfile\n$/,
  );
});

test("after `git add --all` and `git switch`, the link is still there", async () => {
  const { home, run } = repository();
  await link(home);
  run("switch", "--quiet", "-c", "work");
  writeFileSync(join(home.cwd, "b"), "1\n");
  run("add", "--all");
  run("commit", "--quiet", "--message", "second");
  run("switch", "--quiet", "main");
  expect(run("log", "--all", "--name-only", "--format=")).not.toContain("link.json");
  expect(existsSync(join(home.cwd, ".svc/link.json"))).toBe(true);
});

test.each([
  ["has none yet", null, "link.json\n"],
  ["is there already", "*.tmp\n", "*.tmp\n"],
])("outside of a repository, .svc/.gitignore is written if it %s", async (_, before, after) => {
  const home = makeHome();
  const file = join(home.cwd, ".svc/.gitignore");
  if (before !== null) {
    mkdirSync(dirname(file));
    writeFileSync(file, before);
  }
  expect(await link(home)).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8")).toBe(after);
});

test("a link that git would commit is not written", async () => {
  const { home } = repository();
  Bun.spawnSync(["rm", "-r", join(home.cwd, ".git/info")]);
  writeFileSync(join(home.cwd, ".git/info"), "");
  const { code, stderr } = await link(home);
  expect(code).toBe(1);
  expect(stderr).toMatch(/info\/exclude cannot be written \(\w+\), so git would commit the link/);
  expect(existsSync(join(home.cwd, ".svc/link.json"))).toBe(false);
});

test("projects new --link creates no project if the link cannot be written", async () => {
  const home = makeHome();
  writeFileSync(join(home.cwd, ".svc"), "a file");
  const { code, stderr } = await svc(["projects", "new", "shop", "--link"], { home, env });
  expect(code).toBe(1);
  expect(stderr).toContain(".svc/link.json cannot be written");
  expect(stderr).toContain("pass --project <id-or-slug>");
  expect(api.seen.filter(({ method }) => method === "POST")).toEqual([]);
});
