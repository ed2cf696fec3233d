import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fakeApi, PROJECT_ID, project, TOKEN } from "../helpers/cli-api.ts";
import { makeHome, svc, svcOnTerminal } from "../helpers/cli-run.ts";
import { git } from "../helpers/remote.ts";

const api = fakeApi();
/** A second host, which must get no request unless a test says so. */
const other = fakeApi();
afterAll(() => {
  api.stop();
  other.stop();
});
beforeEach(() => {
  api.reset();
  other.reset();
});

const SECOND = "99999999-1111-4111-8111-111111111111";
const elsewhere = project({
  project_id: SECOND,
  name: "Other",
  slug: "other",
  repo_url: "https://git.example.com/other.git",
  git_url: `http://localhost:8008/v1/git/${SECOND}.git`,
});

interface Hosts {
  active?: string;
  otherToken?: string;
}

/** A clone with these remotes, of a user who is signed in to `team`, and to `other` if it has a token. */
function clone(remotes: Record<string, string>, { active = "team", otherToken }: Hosts = {}) {
  const home = makeHome();
  mkdirSync(dirname(home.config), { recursive: true });
  const hosts = {
    team: { url: api.url, token: TOKEN },
    other: { url: other.url, ...(otherToken && { token: otherToken }) },
  };
  writeFileSync(home.config, JSON.stringify({ active, hosts }), { mode: 0o600 });
  git(["-C", home.cwd, "init", "--quiet", "-b", "main"]);
  for (const [name, url] of Object.entries(remotes)) git(["-C", home.cwd, "remote", "add", name, url]);
  return home;
}

const projects = (...all: object[]) => api.on("GET /projects", () => ({ projects: all }));

describe("the project of a directory without a link", () => {
  test.each<[string, Record<string, string>, string]>([
    ["the address on the gateway", { origin: `${api.url}/git/${PROJECT_ID}.git` }, PROJECT_ID],
    [
      "the same with a credential",
      { origin: `${api.url.replace("//", "//u:p@")}/git/${PROJECT_ID}.git/` },
      PROJECT_ID,
    ],
    ["the gateway under another name", { origin: `https://tunnel.test/v1/git/${SECOND}.git` }, SECOND],
    ["the repository", { origin: "https://git.example.com/other.git" }, SECOND],
    ["the repository over ssh", { origin: "git@git.example.com:other" }, SECOND],
    ["the repository of another remote", { upstream: "https://git.example.com/other" }, SECOND],
    [
      "origin before others",
      { a: "https://git.example.com/shop", origin: "https://git.example.com/other" },
      SECOND,
    ],
    [
      "another remote, if origin is no project's",
      { origin: "https://x.test/y", fork: "https://git.example.com/other" },
      SECOND,
    ],
  ])("is found by %s", async (_, remotes, id) => {
    projects(project(), elsewhere);
    const ran = await svc(["cr", "ls", "--json"], { home: clone(remotes) });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(api.seen.at(-1)?.path).toBe(`/projects/${id}/change-requests`);
  });

  test("comes after --project, SVC_PROJECT_ID and the link", async () => {
    projects(project(), elsewhere);
    const home = clone({ origin: "https://git.example.com/other" });
    const source = async (args: string[], env = {}) =>
      (await svc(["projects", "info", "--jq", ".resolved_from", ...args], { home, env })).stdout.trim();
    expect(await source([])).toBe("remote");
    expect(await source(["--project", "shop"])).toBe("--project");
    expect(await source([], { SVC_PROJECT_ID: PROJECT_ID })).toBe("SVC_PROJECT_ID");
    await svc(["projects", "link", "shop"], { home });
    expect(await source([])).toBe("link");
  });

  test.each<[string, Record<string, string>, Hosts, RegExp]>([
    ["no remote", {}, {}, /not linked to one\.\nhint: Run `svc projects link`/],
    [
      "an unknown repository",
      { origin: "https://u:secret@x.test/y" },
      {},
      /no project on team has the repository https:\/\/x\.test\/y\.\nhint: Create one with `svc projects new --repo https:\/\/x\.test\/y --link`/,
    ],
    [
      "no sign-in",
      { origin: "https://git.example.com/other" },
      { active: "other" },
      /without a sign-in to other svc cannot search .*\nhint: Sign in with `svc login`/,
    ],
    [
      "two projects of the repository",
      { origin: "https://git.example.com/twice" },
      {},
      /2 projects on team have the repository of the remote origin: one, two\.\nhint: .*svc projects link one/,
    ],
  ])("with %s is an error with the next command", async (_, remotes, hosts, says) => {
    const twice = "https://git.example.com/twice";
    projects(
      project(),
      project({ project_id: SECOND, slug: "one", repo_url: twice }),
      project({ project_id: SECOND, slug: "two", repo_url: twice }),
    );
    const { code, stdout, stderr } = await svc(["cr", "ls"], { home: clone(remotes, hosts) });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain("secret");
    expect(other.seen).toEqual([]);
  });

  test("is on another host only if the user is signed in there, and no host is chosen", async () => {
    const remotes = { origin: `${other.url}/git/${PROJECT_ID}.git` };
    const there = await svc(["cr", "ls", "--json"], { home: clone(remotes, { otherToken: TOKEN }) });
    expect(there).toMatchObject({ code: 0, stderr: "" });
    expect([api.seen.length, other.seen.at(-1)?.path]).toEqual([
      0,
      `/projects/${PROJECT_ID}/change-requests`,
    ]);

    other.reset();
    projects(elsewhere);
    const rows: [string[], Record<string, string>, Hosts][] = [
      [[], {}, {}],
      [["--host", "team"], {}, { otherToken: TOKEN }],
      [[], { SVC_CLI_TOKEN: TOKEN }, { otherToken: TOKEN }],
      [[], { SVC_API_URL: api.url }, { otherToken: TOKEN }],
    ];
    for (const [args, env, hosts] of rows) {
      const ran = await svc(["cr", "ls", ...args], { home: clone(remotes, hosts), env });
      expect([args, ran.code, ran.stderr.includes("No project: ")]).toEqual([args, 1, true]);
      if (args.length > 0) expect(ran.stderr).toContain("Pass --host other");
    }
    expect(other.seen).toEqual([]);
  });

  test("is not searched for by a token of one project", async () => {
    const forbidden = { error: "no", code: "forbidden" };
    api.on("GET /projects", () => Response.json(forbidden, { status: 403 }));
    const ran = await svc(["cr", "ls"], { home: clone({ origin: "https://x.test/y" }) });
    expect(ran.stderr).toContain("No project: ");
  });
});

describe("projects link without a name", () => {
  test("links the only project of the repository", async () => {
    projects(project(), elsewhere);
    const home = clone({ origin: "git@git.example.com:other.git" });
    api.on("GET /projects/:p", () => elsewhere);
    expect(await svc(["projects", "link"], { home })).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(join(home.cwd, ".svc/link.json"), "utf8")).project_id).toBe(SECOND);
  });

  test("without a match and a terminal is a usage error", async () => {
    projects(project());
    const ran = await svc(["projects", "link"], { home: clone({ origin: "https://x.test/y" }) });
    expect(ran).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("No project has a remote of this folder"),
    });
  });

  test("on a terminal offers the match first", async () => {
    projects(project(), elsewhere);
    api.on("GET /projects/:p", () => elsewhere);
    const home = clone({ origin: "https://git.example.com/other" });
    const run = svcOnTerminal(["projects", "link"], { home });
    await run.shows("Which project is this?");
    await run.shows("this repository: https://git.example.com/other.git");
    run.type("\r");
    expect(await run.exited).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(join(home.cwd, ".svc/link.json"), "utf8")).project_id).toBe(SECOND);
  });
});

test.each<[string, string[], number]>([
  ["is refused, by name", ["--repo", "git@git.example.com:other.git"], 1],
  ["is created with --force", ["--repo", "git@git.example.com:other.git", "--force"], 0],
  ["is created for another repository", ["--repo", "git@git.example.com:third.git"], 0],
  ["is created without a repository", ["--name", "other"], 0],
])("a second project of a repository %s", async (_, args, code) => {
  projects(project(), elsewhere);
  const ran = await svc(["projects", "new", ...args], { home: clone({}) });
  expect(ran.code).toBe(code);
  expect(api.seen.filter(({ method }) => method === "POST")).toHaveLength(code === 0 ? 1 : 0);
  if (code === 0) return;
  expect(ran.stderr).toContain("git@git.example.com:other.git has a project on team already: Other (other).");
  expect(ran.stderr).toContain("svc projects link other");
});

test("a folder is sent as an absolute path to a server on this machine, and to no other", async () => {
  const home = clone({});
  for (const [given, sent] of [
    ["../up.git", join(home.home, "up.git")],
    ["./up.git", join(home.cwd, "up.git")],
    [".", home.cwd],
    ["/srv/up.git", "/srv/up.git"],
  ] as const) {
    expect([given, (await svc(["projects", "new", "--repo", given, "--name", "x"], { home })).code]).toEqual([
      given,
      0,
    ]);
    expect(api.seen.at(-1)?.body).toMatchObject({ repo_url: sent });
  }
  const env = { SVC_API_URL: "https://svc.invalid/v1", SVC_CLI_TOKEN: TOKEN };
  const { code, stderr } = await svc(["projects", "new", "--repo", "../up.git"], { home, env });
  expect([code, stderr]).toEqual([2, expect.stringContaining("is a folder on this machine, which")]);
  expect(stderr).toContain("svc ship");
});
