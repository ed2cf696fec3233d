import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { failure, fakeApi, PROJECT_ID } from "../helpers/cli-api.ts";
import { branch, commit, contents, entry } from "../helpers/cli-repository.ts";
import { makeHome, type RunOptions, spawnSvc, svc, svcOnTerminal, textOf } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (args: string[], options: RunOptions = {}) =>
  svc(args, { ...options, env: { ...api.env, ...options.env } });
const onTerminal = (args: string[]) => svcOnTerminal(args, { env: { ...api.env, NO_COLOR: "1" } });

describe("branches", () => {
  test("prints full values of all pages, separated by tabs", async () => {
    api.on("GET /projects/:p/branches", ({ query }) =>
      query["cursor"]
        ? { branches: [branch("fix")] }
        : { branches: [branch("main", { is_default: true })], next_cursor: "x" },
    );
    const ran = await run(["repo", "branches"]);
    const sha = "a".repeat(40);
    expect(ran).toEqual({
      code: 0,
      signal: null,
      stdout: `main\t${sha}\tdefault\nfix\t${sha}\t\n`,
      stderr: "",
    });
    expect(api.seen[0]).toMatchObject({ path: `/projects/${PROJECT_ID}/branches`, query: { limit: "200" } });
    expect((await run(["repo", "branches", "--json=name", "-L", "1"])).stdout).toBe('[{"name":"main"}]\n');
  });

  test("reports that there are none yet", async () => {
    api.on("GET /projects/:p/branches", () => ({ branches: [] }));
    const ran = await run(["repo", "branches"]);
    expect(ran).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("is empty") });
  });
});

describe("commits", () => {
  test("sends ref and path unchanged, and prints one line per commit", async () => {
    api.on("GET /projects/:p/commits", () => ({ commits: [commit(), commit({ subject: "a\tb\x1b[2J" })] }));
    const ran = await run(["repo", "commits", "fix&x=1", "--path", ":(glob)a b"]);
    expect(ran.stdout).toBe(
      ["Fix the login page", "a\\tb\\x1b[2J"]
        .map((subject) => `${"b".repeat(40)}\t${subject}\tAda\t2026-11-20T10:00:00.000Z\n`)
        .join(""),
    );
    expect(api.seen[0]?.query).toEqual({ ref: "fix&x=1", path: ":(glob)a b", limit: "30" });
    await run(["repo", "log", "--limit", "500"]);
    expect(api.seen[1]?.query).toEqual({ limit: "200" });
    const dateless = commit({ author: { name: "", email: "", date: null } });
    api.on("GET /projects/:p/commits", () => ({ commits: [dateless] }));
    expect((await run(["repo", "commits"])).stdout).toBe(`${"b".repeat(40)}\tFix the login page\t\t\n`);
  });

  test("says that there may be more than the default 30, unless --limit is given", async () => {
    api.on("GET /projects/:p/commits", ({ query }) => ({
      commits: Array.from({ length: Number(query["limit"]) }, () => commit()),
      next_cursor: "x",
    }));
    expect((await run(["repo", "commits"])).stderr).toContain("Only the first 30 are shown; --limit");
    expect((await run(["repo", "commits", "--limit", "30"])).stderr).toBe("");
    expect(JSON.parse((await run(["repo", "commits", "--json"])).stdout)).toHaveLength(30);
  });
});

describe("files", () => {
  test("prints kind, size and full path; on a terminal names, with directories marked", async () => {
    const entries = [
      entry("deep", { type: "directory", mode: "040000", size: null }),
      entry("a\x1b]0;x\x07.ts"),
      entry("vendor", { type: "submodule", mode: "160000", size: null }),
    ];
    api.on("GET /projects/:p/files", () => ({
      ref: "main",
      commit_sha: "a".repeat(40),
      path: "src",
      entries,
    }));
    const ran = await run(["repo", "files", "src", "--ref", "fix"]);
    expect(ran.stdout).toBe(
      "directory\t\tsrc/deep\nfile\t12\tsrc/a\\x1b]0;x\\x07.ts\nsubmodule\t\tsrc/vendor\n",
    );
    expect(api.seen[0]?.query).toEqual({ ref: "fix", path: "src", limit: "200" });
    const terminal = onTerminal(["repo", "files", "src"]);
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    expect(terminal.screen()).toContain("deep/");
    expect(terminal.screen()).toContain("a\\x1b]0;x\\x07.ts");
    expect(terminal.screen()).not.toContain("\x1b]0;");
    expect(JSON.parse((await run(["repo", "ls", "--json"])).stdout)).toEqual(entries);
  });

  test("prints the server's error", async () => {
    const sentence = '"README.md" is a file, not a directory. Read it with: svc repo cat';
    api.on("GET /projects/:p/files", () => failure("not_found", sentence, 404));
    expect(await run(["repo", "files", "README.md"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(sentence),
    });
  });
});

describe("cat", () => {
  const BYTES = Buffer.from("a\r\n\xff\xfe\x1b[2J\x00\xe2\x80\xae last", "latin1");

  test("prints the bytes unchanged", async () => {
    api.on("GET /projects/:p/contents", () => new Response(BYTES));
    const line = ["repo", "cat", "dir/a b&c", "--ref", "fix"];
    const child = spawnSvc(line, { env: { ...api.env, FORCE_COLOR: "1" } });
    const out = new Response(child.stdout).bytes();
    expect([await textOf(child.stderr), await child.exited]).toEqual(["", 0]);
    expect(BYTES.equals(await out)).toBe(true);
    expect(api.seen[0]?.headers.get("accept")).toBe("application/octet-stream");
    expect(api.seen[0]?.query).toEqual({ ref: "fix", path: "dir/a b&c" });
  });

  test("on a terminal, escapes control characters", async () => {
    api.on("GET /projects/:p/contents", () => new Response(BYTES));
    const terminal = onTerminal(["repo", "cat", "a"]);
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    expect(terminal.screen()).toEndWith("a\r\n\ufffd\ufffd\\x1b[2J\\x00\\u202e last");
  });

  test("--json prints the API's object", async () => {
    api.on("GET /projects/:p/contents", () => contents);
    expect(JSON.parse((await run(["repo", "cat", "a.txt", "--json"])).stdout)).toEqual(contents);
    expect((await run(["repo", "cat", "a.txt", "--jq", ".content"])).stdout).toBe("a\n");
    expect(api.seen[0]?.headers.get("accept")).toBe("application/json");
  });

  test("needs a path, and prints nothing if the file does not exist", async () => {
    expect(await run(["repo", "cat"])).toMatchObject({ code: 2, stderr: expect.stringContaining("<path>") });
    api.on("GET /projects/:p/contents", () => failure("not_found", '"main" has no file "x".', 404));
    expect(await run(["repo", "cat", "x"])).toMatchObject({ code: 1, stdout: "" });
  });
});

describe("completion", () => {
  const complete = async (words: string[], cwd?: string) => {
    const ran = await run(["__complete", "--", ...words], cwd ? { cwd } : {});
    return ran.stdout.split("\n").filter(Boolean);
  };

  test("offers the branches of the repository, current one first", async () => {
    const branches = [
      branch("main", { is_default: true }),
      branch("fix"),
      branch("$(touch x)"),
      branch("my/work"),
    ];
    api.on("GET /projects/:p/branches", () => ({ branches }));
    expect(await complete(["repo", "commits", ""])).toEqual(["main\tthe default branch", "fix", "my/work"]);
    expect(await complete(["repo", "cat", "x", "--ref", "f"])).toEqual(["fix"]);
    const home = makeHome();
    mkdirSync(join(home.cwd, ".git"));
    writeFileSync(join(home.cwd, ".git/HEAD"), "ref: refs/heads/my/work\n");
    expect(await complete(["cr", "open", "--head", ""], home.cwd)).toEqual([
      "my/work\tthe current branch",
      "main\tthe default branch",
      "fix",
    ]);
    api.on("GET /projects/:p/branches", () => undefined);
    expect(await complete(["cr", "open", "--head", ""], home.cwd)).toEqual(["my/work\tthe current branch"]);
  });
});
