import { afterAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { changeRequest, fakeApi, project } from "../helpers/cli-api.ts";
import { makeHome, svc } from "../helpers/cli-run.ts";
import { git } from "../helpers/remote.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const AS_ADA = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];

/** A repository with the branch `fix-login`, and a clone of its main branch, as the project's. */
function clone(url?: string) {
  const home = makeHome();
  const origin = join(home.home, "origin");
  git(["init", "--quiet", "-b", "main", origin]);
  const commit = (message: string, folder = origin) =>
    git(["-C", folder, ...AS_ADA, "commit", "--quiet", "--allow-empty", "-m", message]);
  commit("first");
  git(["-C", origin, "switch", "--quiet", "-c", "fix-login"]);
  commit("work");
  git(["-C", origin, "switch", "--quiet", "main"]);
  git(["clone", "--quiet", origin, home.cwd]);
  api.on("GET /projects/:p", () => project({ repo_url: url ?? origin }));
  return { home, origin, commit };
}

const checkout = (home: ReturnType<typeof makeHome>, ...more: string[]) =>
  svc(["cr", "checkout", "3", ...more], { home, env: api.env });
const branch = (folder: string) => git(["-C", folder, "branch", "--show-current"]).trim();
const tip = (folder: string, ref: string) => git(["-C", folder, "rev-parse", ref]).trim();

test("fetches the branch and switches to it; again, it is fast-forwarded", async () => {
  const { home, origin, commit } = clone();
  const first = await checkout(home);
  expect(first.code).toBe(0);
  expect(first.stdout).toStartWith("On fix-login, the branch of #3, at ");
  expect([branch(home.cwd), tip(home.cwd, "HEAD")]).toEqual(["fix-login", tip(origin, "fix-login")]);
  expect(git(["-C", home.cwd, "config", "branch.fix-login.merge"]).trim()).toBe("refs/heads/fix-login");
  git(["-C", home.cwd, "switch", "--quiet", "main"]);
  git(["-C", origin, "switch", "--quiet", "fix-login"]);
  commit("more");
  const again = await checkout(home, "--json");
  expect(again).toMatchObject({ code: 0, stderr: "" });
  const commit_sha = tip(origin, "fix-login");
  expect(JSON.parse(again.stdout)).toEqual({ number: 3, branch: "fix-login", remote: "origin", commit_sha });
  expect([branch(home.cwd), tip(home.cwd, "HEAD")]).toEqual(["fix-login", commit_sha]);
});

test("keeps commits that only this clone has", async () => {
  const { home, origin, commit } = clone();
  await checkout(home);
  // a merge would have an author
  git(["-C", home.cwd, "config", "user.name", "Ada"]);
  git(["-C", home.cwd, "config", "user.email", "ada@example.com"]);
  commit("mine", home.cwd);
  const mine = tip(home.cwd, "HEAD");
  git(["-C", origin, "switch", "--quiet", "fix-login"]);
  commit("theirs");
  const ran = await checkout(home);
  expect(ran).toMatchObject({ code: 1, stdout: "" });
  expect(ran.stderr).toContain("error: git merge:");
  expect(tip(home.cwd, "fix-login")).toBe(mine);
});

test("outside of a clone of the repository, it says how to clone it", async () => {
  const { home } = clone("https://user:secret@git.example.com/shop.git");
  const ran = await checkout(home);
  expect(ran).toMatchObject({ code: 1, stdout: "" });
  expect(ran.stderr).toContain("This directory is not in a clone of shop's repository.");
  expect(ran.stderr).toContain("`svc projects clone shop`");
  expect(branch(home.cwd)).toBe("main");
});

test.each(["--upload-pack=touch pwned", "-x", "a b", "../x"])(
  "the branch %j of a hostile server is not an option of git",
  async (head_ref) => {
    const { home } = clone();
    api.on("GET /projects/:p/change-requests/:n", () => ({ change_request: changeRequest({ head_ref }) }));
    const ran = await checkout(home);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain("is not a valid branch name");
    expect(branch(home.cwd)).toBe("main");
  },
);
