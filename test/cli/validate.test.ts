import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeHome, type RunOptions, svc } from "../helpers/cli-run.ts";
import { git } from "../helpers/remote.ts";

/** A repository with these files in it. */
function repository(files: Record<string, string>): ReturnType<typeof makeHome> {
  const home = makeHome();
  git(["-C", home.cwd, "init", "--quiet", "-b", "main"]);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(home.cwd, path, ".."), { recursive: true });
    writeFileSync(join(home.cwd, path), text);
  }
  return home;
}

const validate = (home: ReturnType<typeof makeHome>, args: string[] = [], options: RunOptions = {}) =>
  svc(["validate", ...args], { home, ...options });

const BROKEN = 'svc_version = 1\r\n[[triggers]]\r\n\tslug = "日 \\u001b[31m\u202e"\r\n[typo]\r\n';

describe("svc validate", () => {
  test("prints nothing to stdout for a valid manifest, from any folder of the repository", async () => {
    const home = repository({
      "svc.toml": 'svc_version = 1\n[sandbox]\ndockerfile = "a/Dockerfile"\n',
      "a/Dockerfile": "FROM scratch",
    });
    expect(await validate(home)).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "svc.toml is valid.\n",
    });
    const below = await validate(home, [], { cwd: join(home.cwd, "a") });
    expect(below).toMatchObject({ code: 0, stdout: "", stderr: "../svc.toml is valid.\n" });
    expect(await validate(home, ["--json"])).toMatchObject({
      code: 0,
      stdout: '{"file":"svc.toml","ok":true,"errors":[]}\n',
      stderr: "",
    });
  });

  test("prints each problem with its position and line, with control characters escaped", async () => {
    const { code, stdout, stderr } = await validate(repository({ "svc.toml": BROKEN }));
    expect(code).toBe(1);
    expect(stderr).toBe("error: svc.toml has 3 errors and 1 warning.\ncode: manifest_invalid\n");
    expect(stdout).toBe(`svc.toml:2:3: error: triggers[0].type is missing: add type = "cron".
2 | [[triggers]]
  |   ^
svc.toml:2:3: error: triggers[0].prompt is missing: add prompt = "Update the packages".
2 | [[triggers]]
  |   ^
svc.toml:3:9: error: triggers[0].slug must be 1 to 128 characters of a-z, 0-9, - and _, the first a letter or a digit.
3 |   slug = "日 \\u001b[31m\\u202e"
  |          ^
svc.toml:4:2: warning: typo is not a known key and is ignored. Known: svc_version, project, env, sandbox, network, opencode, change_requests, merge, checks, agents, branches, tags, triggers, apps, connectors.
4 | [typo]
  |  ^
`);
  });

  test("marks the position in a long line, and under wide characters", async () => {
    const long = `x = "${"é".repeat(500)}" # ${"日".repeat(100)}\nenv = { required = ["${"日".repeat(20)}", "a"] }`;
    const { stdout } = await validate(repository({ "svc.toml": `svc_version = 1\n${long}` }));
    const [, source = "", mark = ""] = stdout.split("\n").slice(3);
    expect(source.slice(0, 200)).toEndWith('"a"] }');
    expect(Bun.stringWidth(source.slice(0, source.indexOf('"a"')))).toBe(mark.indexOf("^"));
    for (const line of stdout.split("\n").filter((each) => /^\d* *\|/.test(each))) {
      expect(line.length).toBeLessThan(110);
    }
  });

  test("reads a file or standard input, and checks it against the repository's files", async () => {
    const home = repository({
      "other.toml": "svc_version = 1\nsandbox.context = 'here'",
      "here/x": "",
      "b.toml": "\ufeff[",
    });
    expect((await validate(home, ["other.toml"])).code).toBe(0);
    expect((await validate(home, ["b.toml"])).stdout).toStartWith("b.toml:1:2: error: The file is not TOML");
    const stdin = "svc_version = 1\nsandbox.context = 'there'";
    const ran = await validate(home, ["-"], { stdin });
    expect(ran.stdout).toStartWith("<stdin>:2:19: error: sandbox.context names the folder");
    symlinkSync("here", join(home.cwd, "there"));
    expect((await validate(home, ["-"], { stdin })).code).toBe(1);
  });

  test("prints all problems with --json, and fails like other commands", async () => {
    const { code, stdout, stderr } = await validate(repository({ "svc.toml": "svc_version = 2" }), [
      "--json",
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      file: "svc.toml",
      ok: false,
      errors: [
        { path: "svc_version", message: "svc_version must be 1.", line: 1, column: 15, severity: "error" },
      ],
    });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "manifest_invalid" } });
  });

  test.each<[string, string[], Record<string, string>, string]>([
    ["no manifest", [], {}, "svc.toml not found in "],
    ["no such file", ["no.toml"], {}, "no.toml cannot be read (ENOENT)"],
    ["a folder", ["a"], { "a/b": "" }, "a cannot be read (EISDIR)"],
  ])("reports the error: %s", async (_, args, files, says) => {
    const ran = await validate(repository(files), args);
    expect([ran.code, ran.stdout]).toEqual([1, ""]);
    expect(ran.stderr).toContain(says);
  });

  test("a file that is not text is a usage error, and one that is too large is a problem", async () => {
    const home = repository({ "svc.toml": `svc_version = 1\n${"#".repeat(300_000)}` });
    expect((await validate(home)).stdout).toStartWith(
      "svc.toml:1:1: error: The file is larger than 256 KiB, the limit, and is not read.",
    );
    expect((await validate(home, ["-"], { stdin: Uint8Array.of(0xff, 0xfe) })).code).toBe(2);
  });
});
