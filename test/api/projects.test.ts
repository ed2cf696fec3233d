import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { cpSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Api, startApi } from "../helpers/api.ts";
import { serveGit } from "../helpers/git-http.ts";
import { Remote } from "../helpers/remote.ts";
import { stored } from "../helpers/stored.ts";
import { until } from "../helpers/until.ts";

let api: Api;
const undo: (() => unknown)[] = [];

beforeAll(async () => {
  api = await startApi();
});
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});
afterAll(() => api.stop());

function makeRemote(options?: ConstructorParameters<typeof Remote>[0]): Remote {
  const remote = new Remote(options);
  undo.push(() => remote.remove());
  return remote;
}

/** A server with no other project, which would bring mirrors of its own in the background. */
async function startQuietApi() {
  const quiet = await startApi();
  undo.push(() => quiet.stop());
  return { ...quiet, mirrors: () => readdirSync(join(quiet.dataDir, "mirrors")) };
}

interface HostOptions {
  /** Credentials that may read and write; without them, the host is public. */
  credential?: { username: string; token: string };
  /** The host redirects all requests to this address. */
  redirect?: string;
}

/** A git host over smart HTTP in front of a repository. */
function makeHost(remote: Remote, { credential, redirect }: HostOptions = {}) {
  const wanted = credential && `Basic ${btoa(`${credential.username}:${credential.token}`)}`;
  const server = serveGit(dirname(remote.path), (request) => {
    if (redirect) return Response.redirect(redirect + new URL(request.url).pathname, 301);
    if (wanted === undefined || request.headers.get("authorization") === wanted) return null;
    return new Response("no", { status: 401, headers: { "WWW-Authenticate": 'Basic realm="git"' } });
  });
  undo.push(() => server[Symbol.dispose]());
  return { url: `${server.origin}/repo.git`, origin: server.origin, seen: server.requests };
}

test("takes the default branch from the repository, whatever its name", async () => {
  const remote = makeRemote({ defaultBranch: "trunk/v2" });
  remote.commit("trunk/v2", { a: "1\n" });
  remote.commit("main", { a: "1\n" });
  const project = await api.project(remote.url, { name: "  Trunk  " });
  expect(project).toEqual({
    project_id: expect.any(String),
    account_id: expect.any(String),
    name: "Trunk",
    slug: "trunk",
    repo_url: remote.url,
    git_url: `http://localhost:0/v1/git/${project.project_id}.git`,
    default_branch: "trunk/v2",
    protected_branches: ["trunk/v2"],
    managed: false,
    manifest_path: "svc.toml",
    model_budget: null,
    model_session_budget: null,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  });
  const other = await api.project(remote.url, { name: "Trunk", default_branch: "refs/heads/main" });
  expect([other.default_branch, other.slug]).toEqual(["main", expect.stringMatching(/^trunk-\d{6}$/)]);
  const missing = await api.call("POST", "/v1/projects", {
    body: { name: "x", repo_url: remote.url, default_branch: "nope" },
  });
  expect([missing.status, missing.body.code]).toEqual([400, "ref_not_found"]);
});

test("accepts an empty repository, and change requests once it has branches", async () => {
  const remote = makeRemote({ defaultBranch: "dev" });
  const project = await api.project(remote.url);
  expect(["dev", "main"]).toContain(project.default_branch);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  expect((await api.call("POST", path, { body: { title: "t", head_ref: "work" } })).body.code).toBe(
    "ref_not_found",
  );
  remote.commit(project.default_branch, { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: project.default_branch });
  expect((await api.call("POST", path, { body: { title: "t", head_ref: "work" } })).status).toBe(201);
  expect((await api.call("POST", `${path}/1/merge`)).status).toBe(200);
});

test("a SHA-256 repository works from project to merge", async () => {
  const remote = makeRemote({ objectFormat: "sha256" });
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { b: "2\n" }, { from: "main" });
  remote.commit("main", { c: "3\n" });
  const project = await api.project(remote.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  const opened = await api.call("POST", path, { body: { title: "t", head_ref: "work" } });
  expect(opened.body.head_commit_sha).toMatch(/^[0-9a-f]{64}$/);
  expect((await api.call("POST", `${path}/1/merge`)).body.merge_commit_sha).toBe(remote.sha("main"));
});

test("reads and merges over http with a credential, and never shows the credential", async () => {
  const credential = { username: "bot", token: "s3cret-T0ken-value" };
  const remote = makeRemote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  const host = makeHost(remote, { credential });

  const without = await api.call("POST", "/v1/projects", { body: { name: "x", repo_url: host.url } });
  expect([without.status, without.body.code]).toEqual([502, "repo_unreachable"]);
  const wrong = await api.call("POST", "/v1/projects", {
    body: { name: "x", repo_url: host.url, git_token: "wr0ng-t0ken" },
  });
  expect([wrong.status, wrong.text.includes("wr0ng-t0ken")]).toEqual([502, false]);

  const inUrl = host.url.replace("http://", `http://${credential.username}:${credential.token}@`);
  const project = await api.project(inUrl);
  expect(project.repo_url).toBe(host.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  const answers = [
    await api.call("POST", path, { body: { title: "t", head_ref: "work" } }),
    await api.call("GET", `${path}/1`),
    await api.call("GET", `${path}/1/diff`),
    await api.call("POST", `${path}/1/merge`),
    await api.call("GET", `/v1/projects/${project.project_id}`),
  ];
  expect(answers.map((answer) => answer.status)).toEqual([201, 200, 200, 200, 200]);
  expect(remote.git("show", "main:a")).toBe("2\n");
  const everything = answers.map((answer) => answer.text).join() + (await stored(api));
  expect(everything).toContain(host.url);
  expect(everything).not.toContain(credential.token);
  expect(everything).not.toContain(btoa(`${credential.username}:${credential.token}`));
});

test("replaces a stored credential, and checks it first", async () => {
  const remote = makeRemote();
  remote.commit("main", { a: "1\n" });
  const host = makeHost(remote, { credential: { username: "x-access-token", token: "one" } });
  const project = await api.project(host.url, { git_token: "one" });
  const put = (token: string) =>
    api.call("PUT", `/v1/projects/${project.project_id}/git-credential`, { body: { token } });
  expect((await put("two")).status).toBe(502);
  expect((await put("one\n")).status).toBe(400);
  expect((await put("one")).body).toEqual({ ok: true });
});

test("a credential is not used for another repository on the same host", async () => {
  const quiet = await startQuietApi();
  const [one, two] = [makeRemote(), makeRemote()];
  for (const remote of [one, two]) remote.commit("main", { a: "1\n" });
  const credential = { username: "x-access-token", token: "for-the-first" };
  const first = makeHost(one, { credential });
  const { project_id: id } = await quiet.project(first.url, { git_token: credential.token });
  expect((await quiet.call("GET", `/v1/projects/${id}/commits`)).status).toBe(200);
  const [mirror = ""] = quiet.mirrors();
  const patch = (repo_url: string) => quiet.call("PATCH", `/v1/projects/${id}`, { body: { repo_url } });
  // spelt otherwise it is the same one, with its credential and its mirror
  expect(first.url).toEndWith(".git");
  const spelt = await patch(`${first.url.replace(/\.git$/, "")}/`);
  expect([spelt.status, spelt.body.git_credential_dropped]).toEqual([200, false]);
  expect((await patch(first.url)).body).toMatchObject({ repo_url: first.url, git_credential_dropped: false });
  expect(quiet.mirrors()).toEqual([mirror]);
  // what the credential would open beside it, on the very same host
  cpSync(two.path, join(dirname(one.path), "beside.git"), { recursive: true });
  expect((await patch(`${first.origin}/beside.git`)).status).toBe(502);
  const asked = first.seen.filter(({ path }) => path.startsWith("/beside.git"));
  expect(asked.map(({ authorization }) => authorization)).toEqual([null]);
  const other = makeHost(two);
  const moved = await patch(other.url);
  expect([moved.status, moved.body.repo_url, moved.body.git_credential_dropped]).toEqual([
    200,
    other.url,
    true,
  ]);
  expect(other.seen.map(({ authorization }) => authorization)).toContain(null);
  expect(other.seen.filter(({ authorization }) => authorization !== null)).toEqual([]);
  expect((await patch(first.url)).status).toBe(502);
});

test("does not follow redirects, nor send them the credential", async () => {
  const remote = makeRemote();
  remote.commit("main", { a: "1\n" });
  const target = makeHost(remote);
  const host = makeHost(remote, { redirect: target.origin });
  const answer = await api.call("POST", "/v1/projects", {
    body: { name: "x", repo_url: host.url, git_token: "t" },
  });
  expect([answer.status, answer.body.code]).toEqual([502, "repo_unreachable"]);
  expect(answer.body.error).toMatch(/redirect|moved/i);
  expect(target.seen).toEqual([]);
});

test("does not serve objects of the old repository after the URL has changed", async () => {
  const [one, two] = [makeRemote(), makeRemote()];
  for (const remote of [one, two]) {
    remote.commit("main", { a: "1\n" });
    remote.commit("work", { [remote === one ? "secret" : "open"]: "x\n" }, { from: "main" });
  }
  const project = await api.project(one.url);
  const path = `/v1/projects/${project.project_id}`;
  await api.call("POST", `${path}/change-requests`, { body: { title: "t", head_ref: "work" } });
  const files = async () =>
    (await api.call("GET", `${path}/change-requests/1/diff`)).body.files.map(
      (file: { path: string }) => file.path,
    );
  expect(await files()).toEqual(["secret"]);
  expect((await api.call("PATCH", path, { body: { repo_url: two.url } })).status).toBe(200);
  expect(await files()).toEqual(["open"]);
  expect(readdirSync(join(api.dataDir, "mirrors")).length).toBeGreaterThan(0);
});

test("rejects invalid and forbidden URLs before git runs", async () => {
  const rows: [string, string[]][] = [
    [
      "invalid_repo_url",
      [
        "-x",
        "--upload-pack=x",
        "ext::sh -c id",
        "ftp://h/x",
        "not a url",
        "https://",
        "https://-x/y",
        "https://h/%0a",
        "ssh://-oProxyCommand=x/y",
        "git@-x:y",
        "a\nb",
      ],
    ],
  ];
  for (const [code, urls] of rows) {
    for (const repo_url of urls) {
      const answer = await api.call("POST", "/v1/projects", { body: { name: "x", repo_url } });
      expect([repo_url, answer.status, answer.body.code]).toEqual([repo_url, 400, code]);
    }
  }
});

test("rejects private addresses, file and http unless the operator allows them", async () => {
  const strict = await startApi({ env: { SVC_ALLOW_PRIVATE_REPOS: "0" } });
  undo.push(() => strict.stop());
  const urls = [
    "file:///etc",
    "/etc",
    "http://127.0.0.1/x",
    "https://127.0.0.1/x",
    "https://localhost/x",
    "https://[::1]/x",
    "https://10.0.0.1/x",
    "https://169.254.169.254/x",
    "https://[::ffff:10.0.0.1]/x",
    "https://0x7f000001/x",
    "https://2130706433/x",
    "https://0177.0.0.1/x",
    "https://100.64.0.1/x",
    "https://[fd00::1]/x",
    "https://[64:ff9b::7f00:1]/x",
    "ssh://git@127.0.0.1/x",
    "git@127.0.0.1:x",
    "git://192.168.0.1/x",
  ];
  for (const repo_url of urls) {
    const answer = await strict.call("POST", "/v1/projects", { body: { name: "x", repo_url } });
    expect([repo_url, answer.status]).toEqual([repo_url, 400]);
    expect(["invalid_repo_url", "repo_not_allowed"]).toContain(answer.body.code);
  }
});

test("deleting a project deletes its change requests, tokens and mirror, not the repository", async () => {
  const remote = makeRemote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  const quiet = await startQuietApi();
  const project = await quiet.project(remote.url);
  const path = `/v1/projects/${project.project_id}`;
  await quiet.call("POST", `${path}/change-requests`, { body: { title: "t", head_ref: "work" } });
  await quiet.call("GET", `${path}/change-requests/1/diff`);
  expect(quiet.mirrors()).toHaveLength(1);
  const { token } = (await quiet.call("POST", `${path}/cli-token`)).body;
  expect((await quiet.call("DELETE", path)).body).toEqual({ ok: true });
  expect((await quiet.call("GET", path)).status).toBe(404);
  expect((await quiet.call("GET", `${path}/change-requests`)).status).toBe(404);
  expect((await quiet.call("GET", "/v1/auth/whoami", { token })).status).toBe(401);
  expect(quiet.mirrors()).toEqual([]);
  expect(remote.has("work")).toBe(true);
});

test("deleting a project ends its fetches, which do not create its mirror again", async () => {
  const remote = makeRemote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  const { promise: fetched, resolve: reach } = Promise.withResolvers<void>();
  const { promise: held, resolve: release } = Promise.withResolvers<null>();
  const host = serveGit(dirname(remote.path), async (request) => {
    const isFetch = request.method === "POST" && (await request.clone().text()).includes("command=fetch");
    if (isFetch) reach();
    return isFetch ? await held : null;
  });
  undo.push(() => host[Symbol.dispose]());
  const quiet = await startQuietApi();
  const project = await quiet.project(`${host.origin}/${basename(remote.path)}`);
  const path = `/v1/projects/${project.project_id}`;
  await quiet.call("POST", `${path}/change-requests`, { body: { title: "t", head_ref: "work" } });
  const diff = quiet.call("GET", `${path}/change-requests/1/diff`);
  await fetched;
  expect((await quiet.call("DELETE", path)).status).toBe(200);
  release(null);
  expect(await diff).toMatchObject({ status: 404, body: { code: "not_found" } });
  await until("the host is at rest", () => host.pending() === 0);
  expect(quiet.mirrors()).toEqual([]);
});

test("lists projects in pages", async () => {
  const remote = makeRemote();
  remote.commit("main", { a: "1\n" });
  const other = await api.mint("pages@example.com");
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    ids.push(
      (
        await api.call("POST", "/v1/projects", {
          token: other,
          body: { name: `p${n}`, repo_url: remote.url },
        })
      ).body.project_id,
    );
  }
  const found: string[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await api.call("GET", `/v1/projects?limit=2${cursor}`, { token: other });
    found.push(...body.projects.map((project: { project_id: string }) => project.project_id));
    if (!body.next_cursor) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(found.sort()).toEqual(ids.sort());
});
