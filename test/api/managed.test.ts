import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Api, startApi } from "../helpers/api.ts";
import { runClient, scratch } from "../helpers/gateway.ts";
import { createRepository } from "../helpers/git-repo.ts";

let api: Api;
const work = scratch();
beforeAll(async () => {
  api = await startApi();
});
afterAll(async () => {
  await api.stop();
  work[Symbol.dispose]();
});

const make = (body: Record<string, unknown>) => api.call("POST", "/v1/projects", { body });
const gateway = (projectId: string) =>
  `${api.url.replace("://", `://x:${api.token}@`)}/v1/git/${projectId}.git`;

test("a project without repo_url has an empty repository that svc hosts", async () => {
  const { status, body } = await make({ name: "Own", default_branch: "trunk" });
  expect(status).toBe(201);
  expect(body).toMatchObject({ managed: true, default_branch: "trunk", repo_url: body.git_url });
  const { code, err } = await runClient(work.path, "clone", gateway(body.project_id), "empty");
  expect([code, err]).toEqual([0, expect.stringContaining("empty repository")]);
  const head = await runClient(join(work.path, "empty"), "symbolic-ref", "HEAD");
  expect(head.out.trim()).toBe("refs/heads/trunk");
});

test("opens, shows and merges a change request", async () => {
  const project = (await make({ name: "Flow" })).body;
  const repository = await createRepository(join(work.path, "flow"));
  const {
    one = "",
    two = "",
    other = "",
  } = await repository.write([
    { name: "one", files: { a: "1\n", b: "1\n" } },
    { name: "two", parents: ["one"], files: { a: "2\n", b: "1\n" } },
    { name: "other", parents: ["one"], files: { a: "1\n", b: "2\n" } },
  ]);
  const url = gateway(project.project_id);
  await repository.git("push", "--quiet", url, `${one}:refs/heads/main`, `${other}:refs/heads/work`);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  const opened = await api.call("POST", path, { body: { title: "Work", head_ref: "work" } });
  expect([opened.status, opened.body.head_commit_sha]).toEqual([201, other]);
  await repository.git("push", "--quiet", url, `${two}:refs/heads/main`);
  const preview = await api.call("GET", `${path}/1/merge-preview`);
  expect(preview.body).toMatchObject({
    base_sha: two,
    head_sha: other,
    can_merge: true,
    can_fast_forward: false,
  });
  const merged = await api.call("POST", `${path}/1/merge`, { body: {} });
  expect([merged.status, merged.body.status]).toEqual([200, "merged"]);
  await repository.git("fetch", "--quiet", url, "main");
  const parents = (await repository.git("log", "-1", "--format=%H %P", "FETCH_HEAD")).split(" ");
  expect(parents).toEqual([merged.body.merge_commit_sha, two, other]);
  expect((await api.call("GET", `${path}/1/diff`)).body.files).toHaveLength(1);
  expect((await runClient(work.path, "ls-remote", url)).out).not.toContain("refs/cr/");
});

test("rejects another URL and a credential", async () => {
  const { project_id } = (await make({ name: "Fixed" })).body;
  const path = `/v1/projects/${project_id}`;
  const answers = [
    await api.call("PATCH", path, { body: { repo_url: "file:///tmp/nowhere.git" } }),
    await api.call("PUT", `${path}/git-credential`, { body: { token: "secret" } }),
    await make({ name: "x", git_token: "secret" }),
    await make({ name: "x", default_branch: "-x" }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  expect((await api.call("PATCH", path, { body: { name: "Renamed" } })).body).toMatchObject({
    name: "Renamed",
  });
});

test("the repository is deleted with its project", async () => {
  const folder = join(api.dataDir, "repositories");
  const before = readdirSync(folder);
  const { project_id } = (await make({ name: "Gone" })).body;
  const [made = ""] = readdirSync(folder).filter((name) => !before.includes(name));
  expect(existsSync(join(folder, made, "HEAD"))).toBe(true);
  expect((await api.call("DELETE", `/v1/projects/${project_id}`)).status).toBe(200);
  expect(readdirSync(folder)).toEqual(before);
  expect((await runClient(work.path, "ls-remote", gateway(project_id))).code).not.toBe(0);
});

test("keeps branches whose names look like temporary files after a restart", async () => {
  const { dataDir } = api;
  const { project_id } = (await make({ name: "Names" })).body;
  const repository = await createRepository(join(work.path, "names"));
  const { one = "" } = await repository.write([{ name: "one", files: { a: "1\n" } }]);
  const names = ["main", "tmp_x", "incoming-x", "objects/tmp_x", "x/a.tmp-b"];
  await repository.git(
    "push",
    "--quiet",
    gateway(project_id),
    ...names.map((name) => `${one}:refs/heads/${name}`),
  );
  await api.stop({ keepData: true });
  api = await startApi({ dataDir });
  const { out } = await runClient(work.path, "ls-remote", "--heads", gateway(project_id));
  expect(
    out
      .trim()
      .split("\n")
      .map((line) => line.split("refs/heads/")[1]),
  ).toEqual(names.sort());
});
