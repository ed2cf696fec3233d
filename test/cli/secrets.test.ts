import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readDotenv } from "../../cli/dotenv.ts";
import { failure, fakeApi } from "../helpers/cli-api.ts";
import { makeHome, type RunOptions, svc, svcOnTerminal } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (args: string[], options: RunOptions = {}) =>
  svc(args, { ...options, env: { ...api.env, ...options.env } });
const sent = () =>
  api.seen.filter(({ method }) => method !== "GET").map(({ path, body }) => [path.split("/").at(-1), body]);

describe("secrets", () => {
  test("ls marks secrets that the manifest requires, and lists missing ones", async () => {
    const ran = await run(["secrets", "ls"]);
    expect(ran.stdout).toBe(
      "API_KEY\t2026-11-20T10:00:00.000Z\tsessions, builds\trequired\nDB_URL\t\t\trequired, missing\nREGION\t\t\toptional\n",
    );
    expect(ran.stderr).toContain("Missing: DB_URL. Next: svc secrets set DB_URL=-");
  });

  test("set sends each secret, with a value from standard input for -", async () => {
    const ran = await run(["secrets", "set", "A=1=2", "B=-", "C="], { stdin: "from stdin\n" });
    expect([ran.code, ran.stdout]).toEqual([0, "Set A, B, C.\n"]);
    expect(sent()).toEqual([
      ["A", { value: "1=2" }],
      ["B", { value: "from stdin" }],
      ["C", { value: "" }],
    ]);
  });

  test("set sends a secret's audience, and rejects an invalid one", async () => {
    await run(["secrets", "set", "A=1", "--for", "apps:shop, triggers:nightly"]);
    expect(sent()).toEqual([["A", { value: "1", for: ["apps:shop", "triggers:nightly"] }]]);
    const bad = await run(["secrets", "set", "A=1", "--for", "everything"]);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('"everything" is not valid')]);
  });

  test("set prompts on a terminal and hides the input", async () => {
    const on = svcOnTerminal(["secrets", "set", "KEY=-"], { env: api.env });
    await on.shows("the input is hidden");
    on.type("typed-secret\r");
    expect((await on.exited).code).toBe(0);
    expect(on.screen()).not.toContain("typed-secret");
    expect(sent()).toEqual([["KEY", { value: "typed-secret" }]]);
  });

  test.each([
    [["novalue"], "NAME=VALUE"],
    [["=x"], "NAME=VALUE"],
    [["A=-", "B=-"], "one value"],
    [["A=1", "lower=2"], '"lower" is not a valid secret name'],
    [["A=1", "SVC_X=2"], '"SVC_X" is reserved'],
    [["A=1", "PATH=2"], '"PATH" is reserved'],
  ])("set %j is rejected before anything is sent", async (words, says) => {
    const ran = await run(["secrets", "set", ...words]);
    expect([ran.code, ran.stdout, api.seen.length]).toEqual([2, "", 0]);
    expect(ran.stderr).toContain(says);
  });

  test("the error does not repeat an argument that may be a value", async () => {
    const ran = await run(["secrets", "set", "sk-live-verysecret"]);
    expect(ran.code).toBe(2);
    expect(ran.stderr).not.toContain("verysecret");
  });

  test("unset removes each once, and reports unknown ones", async () => {
    expect((await run(["secrets", "unset", "A", "B", "A"])).stdout).toBe("Removed A, B.\n");
    expect(sent().map(([name]) => name)).toEqual(["A", "B"]);
    api.on("DELETE /projects/:p/secrets/:n", () =>
      failure("not_found", "The project has no secret with this name.", 404),
    );
    expect(await run(["secrets", "unset", "A"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no secret with this name"),
    });
  });
});

describe("env", () => {
  test("pull writes names without values, readable by the owner only, and replaces no file without confirmation", async () => {
    const home = makeHome();
    const file = join(home.cwd, ".env");
    expect((await run(["env", "pull"], { home })).stdout).toBe("Wrote .env with 3 names.\n");
    expect(readFileSync(file, "utf8").split("\n").slice(1)).toEqual([
      "API_KEY= # required",
      "DB_URL= # required",
      "REGION=",
      "",
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writeFileSync(file, "mine");
    const again = await run(["env", "pull"], { home });
    expect([again.code, readFileSync(file, "utf8")]).toEqual([1, "mine"]);
    expect(again.stderr).toContain("--force");
    expect((await run(["env", "pull", "--force"], { home })).code).toBe(0);
    expect(readFileSync(file, "utf8")).toContain("API_KEY=");
  });

  test.each([".env", "sub folder/[a]*.env"])("pull keeps %s out of commits of the clone", async (out) => {
    const home = makeHome();
    const git = (...args: string[]) => {
      const { exitCode, stdout } = Bun.spawnSync(["git", ...args], { cwd: home.cwd });
      expect(exitCode).toBe(0);
      return stdout.toString();
    };
    git("init", "--quiet");
    mkdirSync(join(home.cwd, "sub folder"));
    for (let times = 0; times < 2; times++)
      expect((await run(["env", "pull", "--force", "--out", out], { home })).code).toBe(0);
    writeFileSync(join(home.cwd, "other.env"), "");
    git("add", "--all");
    expect(git("ls-files")).toBe("other.env\n");
    const lines = readFileSync(join(home.cwd, ".git/info/exclude"), "utf8").trim().split("\n");
    expect(lines.filter((line) => line.endsWith(".env"))).toHaveLength(1);
  });

  test("push sends only entries with a value", async () => {
    const home = makeHome();
    await run(["env", "pull"], { home });
    expect(await run(["env", "push", "--from", ".env"], { home })).toMatchObject({ code: 2 });
    writeFileSync(join(home.cwd, ".env"), "export A=1\n# c\nB='x # y'\nC=\n");
    const ran = await run(["env", "push", "--from", ".env"], { home });
    expect([ran.stdout, ran.stderr]).toEqual([
      "Set A, B.\n",
      expect.stringContaining("Skipped 1 without a value"),
    ]);
    expect(sent()).toEqual([
      ["A", { value: "1" }],
      ["B", { value: "x # y" }],
    ]);
  });

  test("push sends nothing if a line is invalid", async () => {
    const ran = await run(["env", "push", "--from", "-"], { stdin: "A=1\nsecret value here\n" });
    expect([ran.code, api.seen.length]).toEqual([2, 0]);
    expect(ran.stderr).toContain("Line 2");
    expect(ran.stderr).not.toContain("secret value");
  });
});

test.each<[string, Record<string, string> | number]>([
  ["A=1", { A: "1" }],
  ["\ufeffA=1\r\nB = two words \r\n", { A: "1", B: "two words" }],
  ["A=1 # c\nB=1#c\nC=#c", { A: "1", B: "1#c", C: "" }],
  ["  export  A=1\n\n# x\n", { A: "1" }],
  ['A="a\\nb\\t\\"\\\\\\$ $X" # c', { A: 'a\nb\t"\\$ $X' }],
  ["A='a\\nb $X'", { A: "a\\nb $X" }],
  [
    'KEY="-----BEGIN KEY-----\nabc\n-----END KEY-----"\nB=2',
    { KEY: "-----BEGIN KEY-----\nabc\n-----END KEY-----", B: "2" },
  ],
  ["A=1\nA=2", { A: "2" }],
  ["A=a=b==", { A: "a=b==" }],
  ["", {}],
  ["A", 1],
  ["A=1\n1B=2", 2],
  ["A-B=1", 1],
  ['A="x', 1],
  ["B=1\nA='x\n\n", 2],
  ['A="x" y', 1],
])("parses a dotenv file: %j", (text, expected) => {
  const found = readDotenv(text);
  if ("line" in found) expect(found.line).toBe(Number(expected));
  else expect(Object.fromEntries(found.values)).toEqual(expected as Record<string, string>);
});

describe("secrets of one's own", () => {
  const paths = () =>
    api.seen
      .filter(({ method }) => method !== "GET")
      .map(({ method, path, body }) => [method, path.replace(/^.*\/accounts/, ""), body]);
  const PROJECT = "11111111-1111-4111-8111-111111111111";

  test("set sends the value to the user's account, and gives it to the linked project", async () => {
    const ran = await run(["secrets", "set", "--mine", "A=-", "KEPT"], { stdin: "login\n" });
    expect([ran.code, ran.stdout]).toEqual([
      0,
      "Set A for your sessions in shop.\nSet KEPT for your sessions in shop.\n",
    ]);
    expect(paths()).toEqual([
      ["PUT", "/secrets/A", { value: "login" }],
      ["PUT", `/secrets/A/projects/${PROJECT}`, undefined],
      ["PUT", `/secrets/KEPT/projects/${PROJECT}`, undefined],
    ]);
  });

  test("set with --project names another one, and refuses an audience", async () => {
    await run(["secrets", "set", "--mine", "A=1", "--project", "other"]);
    expect(paths().map(([, path]) => path)).toEqual(["/secrets/A", "/secrets/A/projects/other"]);
    api.reset();
    const bad = await run(["secrets", "set", "--mine", "A=1", "--for", "apps"]);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining("--for cannot be used with --mine")]);
    expect((await run(["secrets", "set", "--mine", "SVC_X=1"])).stderr).toContain("is reserved");
    expect(api.seen).toEqual([]);
  });

  test("set sends nothing for a project that does not exist", async () => {
    api.on("GET /projects/:p", () => failure("not_found", "No such project.", 404));
    expect((await run(["secrets", "set", "--mine", "A=1", "--project", "other"])).stderr).toContain(
      "No such",
    );
    expect(paths()).toEqual([]);
  });

  test("ls shows the projects that get each, and needs no project", async () => {
    const ran = await run(["secrets", "ls", "--mine"], { env: { SVC_PROJECT_ID: "" } });
    expect(ran.stdout).toBe("CLAUDE_CODE_OAUTH_TOKEN\t2026-11-20T10:00:00.000Z\tshop\n");
    api.on("GET /accounts/secrets", () => ({ items: [] }));
    expect((await run(["secrets", "ls", "--mine"])).stderr).toContain("svc secrets set --mine NAME=-");
  });

  test("unset removes it from all projects, or with --project from one", async () => {
    expect((await run(["secrets", "unset", "--mine", "A"])).stdout).toBe("Removed A.\n");
    const ran = await run(["secrets", "unset", "--mine", "A", "--project", "shop"]);
    expect(ran.stdout).toBe("Removed A from your sessions in shop.\n");
    expect(paths().map(([method, path]) => [method, path])).toEqual([
      ["DELETE", "/secrets/A"],
      ["DELETE", "/secrets/A/projects/shop"],
    ]);
  });
});
