import { afterAll, beforeEach, expect, test } from "bun:test";
import { fakeApi, PROJECT_ID, project } from "../helpers/cli-api.ts";
import { svc } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (...args: string[]) => svc(["projects", ...args], { env: api.env });
const AT = `/projects/${PROJECT_ID}`;

test.each([
  [["--name", "New"], { name: "New" }],
  [["--repo", "https://git.example.com/new.git"], { repo_url: "https://git.example.com/new.git" }],
  [["--default-branch", "trunk"], { default_branch: "trunk" }],
  [["--budget", "12.5", "--session-budget", "none"], { model_budget: 12.5, model_session_budget: null }],
  [["--budget", "much"], null],
  [[], null],
])("a project is edited with %j", async (flags, body) => {
  const ran = await run("edit", ...flags);
  if (body === null) {
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    return expect(api.seen).toEqual([]);
  }
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(api.seen.at(-1)).toMatchObject({ method: "PATCH", path: AT });
  expect(api.seen.at(-1)?.body).toEqual(body);
});

test("a credential that is deleted with a new repository is reported", async () => {
  api.on("PATCH /projects/:p", () => ({ ...project(), git_credential_dropped: true }));
  const { stderr } = await run("edit", "--repo", "https://git.example.com/new.git");
  expect(stderr).toContain("svc projects git-credential");
});

test("the protection of a former default branch with any name is removed", async () => {
  const branch = "release/1#2?";
  const answer = `DELETE /projects/:p/protected/${encodeURIComponent(branch)}`;
  api.on(answer, () => project());
  expect((await run("unprotect", branch)).stdout).toStartWith(`The branch ${branch} is no longer protected`);
  expect(api.seen.at(-1)).toMatchObject({ method: "DELETE" });
});
