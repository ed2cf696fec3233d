import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type Api, startApi } from "../helpers/api.ts";
import { type Change, Remote } from "../helpers/remote.ts";

let api: Api;
const remotes: Remote[] = [];

beforeAll(async () => {
  api = await startApi();
});
afterEach(() => {
  for (const remote of remotes.splice(0)) remote.remove();
});
afterAll(() => api.stop());

function someRemote(): Remote {
  const remote = new Remote();
  remotes.push(remote);
  return remote;
}

const GOOD = 'svc_version = 1\n[sandbox]\ndockerfile = "docker/Dockerfile"\n';
const TREE = { "svc.toml": GOOD, "docker/Dockerfile": "FROM scratch", "docker/other": "x", a: "1" };
const BROKEN = `${GOOD}cpu = 0\n`;
const CPU = "4:7 error: sandbox.cpu must be a number above 0.";
const LOST =
  '3:14 error: sandbox.dockerfile names the file "docker/Dockerfile", which is not in the repository.';

const shown = (errors: { line: number; column: number; severity: string; message: string }[]) =>
  errors.map(({ line, column, severity, message }) => `${line}:${column} ${severity}: ${message}`);

interface Row {
  /** What main has when the branch begins; `TREE` if left out. */
  was?: Record<string, Change>;
  /** What the change request changes. */
  head: Record<string, Change>;
  /** What main changes meanwhile. */
  base?: Record<string, Change>;
  changed: boolean;
  errors: string[];
  /** The apps that a merge makes public. */
  opens?: string[];
}

const app = (slug: string, access: string) =>
  `[[apps]]\nslug = "${slug}"\naccess = "${access}"\nstatic.dir = "docker"\n`;
const [OPEN, CLOSED] = [app("site", "public"), app("site", "members")];

describe("GET …/change-requests/:crId/manifest", () => {
  test.each<[string, Row]>([
    ["nothing of it is changed", { head: { a: "2" }, changed: false, errors: [] }],
    ["it breaks the manifest", { head: { "svc.toml": BROKEN }, changed: true, errors: [CPU] }],
    [
      "it makes the file invalid TOML",
      {
        head: { "svc.toml": "[" },
        changed: true,
        errors: ["1:2 error: The file is not TOML: incomplete key-value: cannot find end of key."],
      },
    ],
    ["it adds one", { was: { a: "1" }, head: { "svc.toml": BROKEN }, changed: true, errors: [LOST, CPU] }],
    ["it adds one with the files that it names", { was: { a: "1" }, head: TREE, changed: true, errors: [] }],
    [
      "it fixes one",
      { was: { ...TREE, "svc.toml": BROKEN }, head: { "svc.toml": GOOD }, changed: true, errors: [] },
    ],
    [
      "it was broken before",
      { was: { ...TREE, "svc.toml": BROKEN }, head: { a: "2" }, changed: false, errors: [] },
    ],
    [
      "it deletes a file that the manifest names",
      { head: { "docker/Dockerfile": null }, changed: false, errors: [LOST] },
    ],
    [
      "it deletes the whole folder",
      { head: { "docker/Dockerfile": null, "docker/other": null }, changed: false, errors: [LOST] },
    ],
    [
      "it puts a link there",
      {
        head: { "docker/Dockerfile": { link: "/etc/passwd" } },
        changed: false,
        errors: [LOST],
      },
    ],
    [
      "it removes the manifest",
      {
        head: { "svc.toml": null },
        changed: true,
        errors: [
          "1:1 warning: This change request removes the file svc.toml. Its triggers and apps stop when it is merged.",
        ],
      },
    ],
    [
      "the manifest becomes a link",
      {
        head: { "svc.toml": { link: "/etc/passwd" } },
        changed: true,
        errors: [
          "1:1 warning: This change request removes the file svc.toml. Its triggers and apps stop when it is merged.",
        ],
      },
    ],
    ["there is none", { was: { a: "1" }, head: { a: "2" }, changed: false, errors: [] }],
    [
      "main was broken meanwhile",
      { head: { a: "2" }, base: { "svc.toml": BROKEN }, changed: false, errors: [] },
    ],
    [
      "main moved the file meanwhile, and the manifest with it",
      {
        head: { a: "2" },
        base: { "docker/Dockerfile": null, Dockerfile: "x", "svc.toml": GOOD.replace("docker/", "") },
        changed: false,
        errors: [],
      },
    ],
    [
      "main took the file away, and it names the file",
      {
        head: { "svc.toml": `${GOOD}cpu = 1\n` },
        base: { "docker/Dockerfile": null },
        changed: true,
        errors: [LOST],
      },
    ],
    [
      "it deletes a file that main names meanwhile",
      {
        head: { a: null },
        base: { "svc.toml": 'svc_version = 1\nsandbox.dockerfile = "a"\n' },
        changed: false,
        errors: ['2:22 error: sandbox.dockerfile names the file "a", which is not in the repository.'],
      },
    ],
    [
      "both add files to a folder that it names",
      {
        was: { ...TREE, "svc.toml": 'svc_version = 1\nsandbox.context = "docker"\n' },
        head: { "docker/other": null, "docker/Dockerfile": null, "docker/new": "x" },
        base: { "docker/more": "x" },
        changed: false,
        errors: [],
      },
    ],
    [
      "the manifest is too large",
      {
        head: { "svc.toml": "é".repeat(140_000) },
        changed: true,
        errors: ["1:1 error: The file is larger than 256 KiB, the limit, and is not read."],
      },
    ],
    [
      "it opens an app to the public, and adds one that is",
      {
        was: { ...TREE, "svc.toml": GOOD + CLOSED },
        head: { "svc.toml": GOOD + OPEN + app("docs", "public") + app("team", "members") },
        changed: true,
        errors: [],
        opens: ["site", "docs"],
      },
    ],
    [
      "it changes an app that is public already, and closes another",
      {
        was: { ...TREE, "svc.toml": GOOD + OPEN + app("docs", "public") },
        head: { "svc.toml": `${GOOD + OPEN}name = "x"\n${app("docs", "members")}` },
        changed: true,
        errors: [],
      },
    ],
    [
      "it adds an app that is public and not enabled",
      { head: { "svc.toml": `${GOOD + OPEN}enabled = false\n` }, changed: true, errors: [] },
    ],
    [
      "main opened the app meanwhile",
      {
        was: { ...TREE, "svc.toml": GOOD + CLOSED },
        head: { a: "2" },
        base: { "svc.toml": GOOD + OPEN },
        changed: false,
        errors: [],
      },
    ],
    [
      "main closed the app meanwhile, and it changes another line of the manifest",
      {
        was: { ...TREE, "svc.toml": GOOD + OPEN },
        head: { "svc.toml": `${GOOD}cpu = 1\n${OPEN}` },
        base: { "svc.toml": GOOD + CLOSED },
        changed: true,
        errors: [],
        opens: ["site"],
      },
    ],
  ])("%s", async (_, { was = TREE, head, base = {}, changed, errors, opens = [] }) => {
    const remote = someRemote();
    remote.commit("main", was);
    remote.commit("work", head, { from: "main" });
    if (Object.keys(base).length > 0) remote.commit("main", base);
    const project = await api.project(remote.url);
    const at = `/v1/projects/${project.project_id}/change-requests`;
    const { body } = await api.call("POST", at, { body: { title: "x", head_ref: "work" } });
    const told = await api.call("GET", `${at}/${body.number}/manifest`);
    expect({ ...told.body, errors: shown(told.body.errors) }).toEqual({
      path: "svc.toml",
      changed,
      errors,
      opens,
    });
    expect(told.status).toBe(200);
  });

  test("answers like the other routes for another user, an unknown number, and as before when the branch is gone", async () => {
    const remote = someRemote();
    remote.commit("main", TREE);
    remote.commit("work", { "svc.toml": BROKEN }, { from: "main" });
    const project = await api.project(remote.url);
    const at = `/v1/projects/${project.project_id}/change-requests`;
    await api.call("POST", at, { body: { title: "x", head_ref: "work" } });
    expect((await api.call("GET", `${at}/1/manifest`, { token: null })).status).toBe(401);
    expect((await api.call("GET", `${at}/9/manifest`)).body.code).toBe("not_found");
    const stranger = await api.mint("stranger@example.com");
    expect((await api.call("GET", `${at}/1/manifest`, { token: stranger })).status).toBe(403);
    await api.call("POST", `${at}/1/merge`, { body: {} });
    expect(shown((await api.call("GET", `${at}/1/manifest`)).body.errors)).toEqual([CPU]);
    remote.commit("gone", { a: "3" }, { from: "main" });
    await api.call("POST", at, { body: { title: "x", head_ref: "gone" } });
    const before = await api.call("GET", `${at}/2/manifest`);
    remote.git("update-ref", "-d", "refs/heads/gone");
    expect((await api.call("GET", `${at}/2/manifest`)).body).toEqual(before.body);
  });
});

describe("GET /v1/projects/:id/manifest", () => {
  test("returns the default branch's manifest, its problems and its commit", async () => {
    const remote = someRemote();
    remote.commit("main", { a: "1" });
    const project = await api.project(remote.url);
    const at = `/v1/projects/${project.project_id}/manifest`;
    const nothing = { path: "svc.toml", errors: [], project: { name: null }, triggers: [], apps: [] };
    expect((await api.call("GET", at)).body).toEqual({ ...nothing, commit: remote.sha("main") });
    remote.commit("main", {
      "svc.toml": `svc_version = 1\nproject.name = "Shop"\n[[triggers]]\nslug = "t"\ntype = "cron"\nprompt = "x"\ncron = "0 3 * * *"\nagent = "who"\n[[triggers]]\n[[apps]]\nslug = "a"\nstatic.dir = "."\n`,
    });
    const { body } = await api.call("GET", at);
    expect({ ...body, errors: shown(body.errors) }).toEqual({
      path: "svc.toml",
      commit: remote.sha("main"),
      errors: [
        '9:3 error: triggers[1].slug is missing: add slug = "nightly".',
        '9:3 error: triggers[1].type is missing: add type = "cron".',
        '9:3 error: triggers[1].prompt is missing: add prompt = "Update the packages".',
        '8:9 warning: triggers[0].agent names the agent "who", but the repository has no file ".svc/agentrt/agents/who.md".',
      ],
      project: { name: "Shop" },
      triggers: ["t"],
      apps: ["a"],
    });
    expect((await api.call("GET", at, { token: await api.mint("other@example.com") })).status).toBe(403);
  });

  test("has no commit if the branch is missing", async () => {
    const remote = someRemote();
    remote.commit("main", { a: "1" });
    const project = await api.project(remote.url);
    remote.git("update-ref", "-d", "refs/heads/main");
    expect((await api.call("GET", `/v1/projects/${project.project_id}/manifest`)).body).toMatchObject({
      commit: null,
      errors: [],
    });
  });
});
