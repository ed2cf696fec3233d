import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Api, startApi } from "../helpers/api.ts";
import { gitAtHome, svc } from "../helpers/cli-run.ts";
import { git, Remote } from "../helpers/remote.ts";
import { shipper } from "../helpers/shipping.ts";

let api: Api;
const remote = new Remote();
beforeAll(async () => {
  api = await startApi();
  remote.commit("main", { "a.txt": "1\n" });
  remote.commit("main", { "a.txt": "2\n" });
  remote.branch("feature", "main");
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

/** Somebody who is signed in, in an empty folder that is no repository. */
const someone = () => {
  const who = shipper(api, { branch: null });
  const clone = (...args: string[]) => svc(["projects", "clone", ...args], { home: who.home });
  return { ...who, clone };
};
const settings = (folder: string, name: string) =>
  git(["-C", folder, "config", "--local", "--get-all", name]).split("\n").slice(0, -1);

test("clones a project of another git host through svc, links it, and plain git pulls and pushes there", async () => {
  const project = await api.project(remote.url);
  const who = someone();
  const ran = await who.clone(project.slug, "--json");
  const path = join(who.cwd, project.slug);
  const url = `${api.url}/v1/git/${project.project_id}.git`;
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(ran.stdout)).toEqual({
    project_id: project.project_id,
    slug: project.slug,
    path,
    remote: url,
  });
  expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("2\n");
  expect(settings(path, "remote.origin.url")).toEqual([url]);
  // the token is in no file of the clone
  expect(readFileSync(join(path, ".git/config"), "utf8")).not.toContain(api.token);
  expect(git(["-C", path, "status", "--porcelain"])).toBe("");
  const link = JSON.parse(readFileSync(join(path, ".svc/link.json"), "utf8"));
  expect(link).toMatchObject({ project_id: project.project_id, host: "team" });
  const home = { ...who.home, cwd: path };
  const info = await svc(["projects", "info", "--jq", ".slug"], { home });
  expect(info.stdout).toBe(`${project.slug}\n`);
  git(["-C", path, "commit", "--quiet", "--allow-empty", "-m", "work"]);
  const pushed = await gitAtHome(home, ["push", "--quiet", "origin", "HEAD:refs/heads/from-the-clone"]);
  expect(pushed.code).toBe(0);
  expect(git(["-C", remote.path, "rev-parse", "from-the-clone"]).trim()).toBe(
    git(["-C", path, "rev-parse", "HEAD"]).trim(),
  );
});

test("another folder, and the last commits only", async () => {
  const { slug } = await api.project(remote.url);
  const who = someone();
  const ran = await who.clone(slug, "one/deep", "--depth", "1");
  const path = join(who.cwd, "one/deep");
  expect(ran.stdout).toBe(`Cloned Example into ${path}, and linked it.\n`);
  expect(git(["-C", path, "rev-list", "--count", "HEAD"])).toBe("1\n");
  expect(git(["-C", path, "branch", "-r", "--format=%(refname:short)"])).toContain("origin/feature");
});

test.each([
  ["a folder that is not empty", "exists, and is not empty. Nothing was cloned."],
  ["a project that does not exist", "no-such-project"],
])("%s: an error, and nothing is cloned", async (what, message) => {
  const { slug } = await api.project(remote.url);
  const who = someone();
  const isFolder = what.startsWith("a folder");
  mkdirSync(join(who.cwd, "here"));
  if (isFolder) writeFileSync(join(who.cwd, "here/mine.txt"), "mine");
  const ran = await who.clone(isFolder ? slug : "no-such-project", "here");
  expect(ran).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(message) });
  expect(existsSync(join(who.cwd, "here/.git"))).toBe(false);
});
