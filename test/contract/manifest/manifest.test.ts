import { describe, expect, test } from "bun:test";
import { MANIFEST_MAX_BYTES, readManifest } from "../../../src/contract/manifest/manifest.ts";
import { DEFAULT_METHODS, type MergeMethod } from "../../../src/contract/merge-method.ts";

const DEFAULTS = {
  agentMerge: false,
  directPush: true,
  requiredApprovals: 0,
  selfApproval: false,
  requireCodeOwnerReview: false,
  methods: [...DEFAULT_METHODS] satisfies MergeMethod[] as MergeMethod[],
};
const V = "svc_version = 1\n";
/** Each problem as `severity path:line`. */
const problems = (text: string) =>
  readManifest(text).errors.map(({ severity, path, line }) => `${severity} ${path}:${line}`);

test("parses a full manifest", () => {
  const text = `${V}[project]\nname = "Shop"\ndescription = "Sells"\n\n[env]\nrequired = ["KEY"]\n[sandbox]\ncpu = 2\nruntime = "codex"\n[network]\negress = "restricted"\nallow = ["API.example.com.", "preset:packages", "api.example.com"]\n[opencode]\nconfig_dir = "x"\n[change_requests]\nagent_merge = false\ndirect_push = false\nrequired_approvals = 2\nmethods = ["squash", "ff-only", "squash"]\nself_approval = true\nrequire_code_owner_review = true\n[merge]\nqueue = true\ntimeout_minutes = 90\n[agents]\nreach = "project"\n[branches]\nprotected = ["release/*", "stable"]\n[checks]\nrequired = ["test", "ci / lint"]\n[tags]\nprotected = ["v*"]\n`;
  expect(readManifest(text)).toEqual({
    manifest: {
      project: { name: "Shop" },
      env: { required: ["KEY"], optional: [] },
      opencode: { configDir: "x" },
      sandbox: {
        dockerfile: null,
        context: ".",
        cpu: 2,
        memory: null,
        disk: null,
        runtime: "codex",
        setup: null,
        setupMinutes: 15,
        services: [],
      },
      network: { mode: "restricted", allow: ["api.example.com", "preset:packages"] },
      changeRequests: {
        agentMerge: false,
        directPush: false,
        requiredApprovals: 2,
        selfApproval: true,
        requireCodeOwnerReview: true,
        methods: ["squash", "ff-only"],
      },
      merge: { queue: true, timeoutMinutes: 90 },
      checks: { required: ["test", "ci / lint"] },
      agents: { reach: "project" },
      branches: { protected: ["release/*", "stable"] },
      tags: { protected: ["v*"] },
      triggers: [],
      apps: [],
      connectors: [],
      connectorSecrets: [],
      ownChecks: [],
    },
    errors: [],
  });
});

test("triggers and apps keep the file's order, in any TOML syntax", () => {
  const text = `${V}
triggers = [
  { slug = "nightly", type = "cron", prompt = "Tidy up", cron = "0 3 * * *", model = "small", secrets = ["A", "B", "A"] },
  { "slug" = 'issue', type = "webhook", prompt = """
Look at {{ body.issue.title }}""", secret_env = "HOOK", name = "Issues", agent = "triage", enabled = false },
]
[[apps]]
slug = "web"
name = "The shop"
access = "public"
run = { command = "npm start", port = 3_000 }
health.path = "/healthz?full=1"
[apps.source]
root_path = "apps/web"
[apps.build]
command = "npm ci"
[apps.env]
MODE = "production"
PORT = "1"
[[apps]]
slug = "docs"
enabled = false
static.dir = "."
`;
  const { manifest, errors } = readManifest(text);
  expect(errors.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([
    "20:1 apps[0].env names PORT, which is reserved for svc or the sandbox: it is ignored.",
  ]);
  expect(manifest?.triggers).toEqual([
    {
      slug: "nightly",
      type: "cron",
      prompt: "Tidy up",
      name: null,
      agent: null,
      model: "small",
      secrets: ["A", "B"],
      enabled: true,
      cron: "0 3 * * *",
      timezone: "UTC",
      secretEnv: null,
    },
    {
      slug: "issue",
      type: "webhook",
      prompt: "Look at {{ body.issue.title }}",
      name: "Issues",
      agent: "triage",
      model: null,
      secrets: null,
      enabled: false,
      cron: null,
      timezone: "UTC",
      secretEnv: "HOOK",
    },
  ]);
  expect(manifest?.apps).toEqual([
    {
      slug: "web",
      name: "The shop",
      enabled: true,
      access: "public",
      previews: false,
      rootPath: "apps/web",
      build: "npm ci",
      run: { command: "npm start", port: 3000 },
      static: null,
      health: { path: "/healthz?full=1" },
      env: { MODE: "production" },
    },
    {
      slug: "docs",
      name: null,
      enabled: false,
      access: "members",
      previews: false,
      rootPath: ".",
      build: null,
      run: null,
      static: { dir: "." },
      health: null,
      env: {},
    },
  ]);
});

test("an empty manifest has the defaults, and a warning about the version", () => {
  expect(readManifest("")).toMatchObject({ manifest: { project: { name: null }, changeRequests: DEFAULTS } });
  expect(problems("")).toEqual(["warning svc_version:1"]);
});

test("valid patterns of protected branches and tags apply beside invalid ones", () => {
  const bad = ["", "-x", "/x", "x/", "a..b", "a b", "a~1", ".x", "x?", "@{", "a\\\\b", "x".repeat(300)];
  const patterns = JSON.stringify(["release/*", ...bad, "v*", "**/stable", "release/*"]);
  const text = `${V}branches = { protected = ${patterns} }\n[tags]\nprotected = ${JSON.stringify(["v*", 1])}\n`;
  const { manifest, errors } = readManifest(text);
  expect(manifest?.branches.protected).toEqual(["release/*", "v*", "**/stable"]);
  expect(manifest?.tags.protected).toEqual(["v*"]);
  expect(errors.map(({ path }) => path).sort()).toEqual(
    [...bad.map((_, index) => `branches.protected[${index + 1}]`), "tags.protected[1]"].sort(),
  );
  expect(readManifest(`${V}[branches]\nprotected = "main"`).errors).toMatchObject([
    { path: "branches.protected", severity: "error" },
  ]);
});

describe("invalid TOML has no manifest, and one error with a position", () => {
  test.each([
    ["[change_requests", 1, 2],
    [`${V}agent`, 2, 1],
    [`${V}a = 1\na = 2\n`, 3, 1],
    [`${V}[project]\n[project]\n`, 3, 2],
    [`${V}name = "Shop\n`, 2, 13],
    [`${V}\r\nx = 'a\x1b[31m'`, 3, 7],
    [`x = ${"[".repeat(100_000)}`, 1, 1005],
    ["<html>", 1, 1],
  ])("%#", (text, line, column) => {
    const { manifest, errors } = readManifest(text);
    expect(manifest).toBeNull();
    expect(errors).toEqual([
      {
        path: "",
        message: expect.stringMatching(/^The file is not TOML: [^\n]+\.$/),
        line,
        column,
        severity: "error",
      },
    ]);
  });
});

describe("an invalid entry is reported with its line, has the strictest meaning, and hides no valid one", () => {
  const NONE = {
    agentMerge: false,
    directPush: false,
    requiredApprovals: 100,
    selfApproval: false,
    requireCodeOwnerReview: true,
    methods: [],
  };
  test.each<[string, string[], Partial<typeof DEFAULTS>]>([
    [
      "svc_version = 2\n[change_requests]\nagent_merge = false",
      ["error svc_version:1"],
      { agentMerge: false },
    ],
    ['svc_version = "1"', ["error svc_version:1"], {}],
    [
      `${V}[change_requests]\nmethods = ["squash", "fast", "rebase"]`,
      ["error change_requests.methods[1]:3"],
      { methods: ["squash", "rebase"] },
    ],
    [`${V}[change_requests]\nmethods = []`, ["error change_requests.methods:3"], { methods: [] }],
    [`${V}[change_requests]\nmethods = "squash"`, ["error change_requests.methods:3"], { methods: [] }],
    [
      `${V}[change_requests]\nagent_merge = "yes"`,
      ["error change_requests.agent_merge:3"],
      { agentMerge: false },
    ],
    [
      `${V}[change_requests]\nagent_merge = 1\ndirect_push = true`,
      ["error change_requests.agent_merge:3"],
      { agentMerge: false },
    ],
    [
      `${V}change_requests.direct_push = [true]`,
      ["error change_requests.direct_push:2"],
      { directPush: false },
    ],
    [
      `${V}change_requests = { direct_push = 0 }`,
      ["error change_requests.direct_push:2"],
      { directPush: false },
    ],
    [
      `${V}"change_requests"."direct_push" = ""`,
      ["error change_requests.direct_push:2"],
      { directPush: false },
    ],
    [`${V}change_requests = true`, ["error change_requests:2"], NONE],
    [`${V}change_requests = 2026-01-01`, ["error change_requests:2"], NONE],
    [`${V}[[change_requests]]\nagent_merge = true`, ["error change_requests:2"], NONE],
    ...["-1", "101", "1.5", '"2"', "nan", "true", "99999999999999999999"].map(
      (value): [string, string[], Partial<typeof DEFAULTS>] => [
        `${V}[change_requests]\nrequired_approvals = ${value}`,
        ["error change_requests.required_approvals:3"],
        { requiredApprovals: 100 },
      ],
    ),
    [`${V}project = "Shop"`, ["error project:2"], {}],
    [
      `${V}[project]\nname = 3\ndescription = []`,
      ["error project.name:3", "error project.description:4"],
      {},
    ],
    [`${V}[project]\nname = "  "`, ["error project.name:3"], {}],
    [`${V}[project]\nname = "${"x".repeat(129)}"`, ["error project.name:3"], {}],
  ])("%j", (text, expected, change) => {
    expect(problems(text)).toEqual(expected);
    expect(problems(text.replaceAll("\n", "\r\n"))).toEqual(expected);
    expect(readManifest(text).manifest?.changeRequests).toEqual({ ...DEFAULTS, ...change });
  });
});

describe("unknown keys are ignored with a warning, after the errors", () => {
  test.each([
    [`${V}[typo]\na = 1\n[typo.b]`, ["warning typo:2"]],
    [`${V}[[typo]]\n[[typo]]`, ["warning typo:2"]],
    [`${V}[a.b.c]`, ["warning a:2"]],
    [`${V}[__proto__]\nagent_merge = false`, ["warning __proto__:2"]],
    [`${V}[constructor]`, ["warning constructor:2"]],
    [`${V}[project]\ntoString = 1`, ["warning project.toString:3"]],
    [`${V}[change_requests]\nagent_merg = false`, ["warning change_requests.agent_merg:3"]],
    [`${V}typo = 1\n[project]\nname = 1`, ["error project.name:4", "warning typo:2"]],
  ])("%j", (text, expected) => {
    expect(problems(text)).toEqual(expected);
    expect(readManifest(text).manifest?.changeRequests).toEqual(DEFAULTS);
  });
});

describe("problems have the correct line", () => {
  test.each([
    [
      "a comment and a string with the word above",
      `# agent_merge\nx = """\nagent_merge = 1\n"""\n[change_requests]\nagent_merge = 3`,
      6,
    ],
    ["the same word in another table", `[env]\nagent_merge = 3\n[change_requests]\nagent_merge = 3`, 4],
    ["a value over several lines", `[change_requests]\nagent_merge = [\n  "agent_merge",\n]`, 2],
    ["an inline table over several lines", `change_requests = {\n agent_merge = 3 }`, 2],
    ["a key with an escape", `[change_requests]\n"agent\\u005fmerge" = 3`, 2],
    ["a long file", `${"#\n".repeat(10_000)}[change_requests]\nagent_merge = 3`, 10_002],
  ])("%s", (_, text, line) => {
    const found = readManifest(V + text).errors.find(({ severity }) => severity === "error");
    expect(found).toMatchObject({
      path: "change_requests.agent_merge",
      line: line + 1,
    });
  });
});

test("a truncated list of problems still names each entry with an error", () => {
  const many = "[[triggers]]\n".repeat(100);
  const text = `${V}${many}[[apps]]\n[change_requests]\nagent_merge = 1\nrequired_approvals = -1\n`;
  const { errors } = readManifest(text);
  expect(errors).toHaveLength(50);
  const paths = errors.map(({ path }) => path);
  for (const path of ["apps[0].slug", "change_requests.agent_merge", "change_requests.required_approvals"])
    expect(paths).toContain(path);
  expect(errors.map(({ line }) => line)).toEqual(errors.map(({ line }) => line).toSorted((a, b) => a - b));
});

test("the largest file, full of problems, is parsed to its end and reports a limited number", () => {
  const texts = [
    Array.from({ length: MANIFEST_MAX_BYTES / 8 }, (_, n) => `[t${n}]`)
      .join("\n")
      .slice(0, MANIFEST_MAX_BYTES),
    Array.from({ length: 1500 }, (_, n) => `t${n} = 1`).join("\n"),
    `[change_requests]\n${"agent_merge_ = 1".padEnd(1000, "#")}\n${"# agent_merge\n".repeat(1000)}agent_merge = 3`,
  ];
  for (const text of texts) {
    const { errors } = readManifest(text);
    expect(errors.length).toBeLessThanOrEqual(50);
    for (const { message } of errors) expect(message.length).toBeLessThan(300);
  }
});

test.each(["/etc", "..", "a/../b", "a\\\\b", "", "a\\n", 1])(
  "rejects a path of the runtime's configuration outside of the repository: %j",
  (value) => {
    const text = `${V}[opencode]\nconfig_dir = ${JSON.stringify(value)}`;
    expect(problems(text)).toEqual(["error opencode.config_dir:3"]);
    expect(readManifest(text).manifest?.opencode).toEqual({ configDir: ".svc/agentrt" });
  },
);
describe("[sandbox]", () => {
  test("has paths in the repository and amounts", () => {
    const text = `${V}[sandbox]\ndockerfile = "docker/Dockerfile.dev"\ncontext = "docker"\ncpu = 0.5\nmemory = 8\ndisk = 40\n`;
    expect(readManifest(text)).toMatchObject({
      manifest: {
        sandbox: { dockerfile: "docker/Dockerfile.dev", context: "docker", cpu: 0.5, memory: 8, disk: 40 },
      },
      errors: [],
    });
  });

  test.each([
    'dockerfile = "../Dockerfile"',
    'dockerfile = "/etc/passwd"',
    'dockerfile = "a/../b"',
    'dockerfile = "a//b"',
    'dockerfile = "a\\\\b"',
    'dockerfile = "a\\u0000b"',
    'dockerfile = ".git/x"',
    'dockerfile = ""',
    "dockerfile = 1",
    'context = ".."',
    'context = "./x"',
    "cpu = 0",
    "cpu = -1",
    "cpu = nan",
    "memory = inf",
    'disk = "40"',
    'runtime = "Gemini CLI"',
    "runtime = 1",
  ])("%s is an error, and counts as missing", (line) => {
    const { manifest, errors } = readManifest(`${V}[sandbox]\n${line}\n`);
    expect(errors).toMatchObject([{ path: `sandbox.${line.split(" ")[0]}`, line: 3, severity: "error" }]);
    expect(manifest?.sandbox).toEqual({
      dockerfile: null,
      context: ".",
      cpu: null,
      memory: null,
      disk: null,
      runtime: "opencode",
      setup: null,
      setupMinutes: 15,
      services: [],
    });
  });
});
