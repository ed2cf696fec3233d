import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../cli/run.ts";
import { isGroup, namesOf } from "../../cli/spec.ts";
import { TABLE } from "../../cli/table.ts";
import { readManifest } from "../../src/contract/manifest/manifest.ts";
import { editDistance } from "../../src/contract/nearest.ts";
import { fakeSystem, makeHome, type RunOptions, svc, svcOnTerminal } from "../helpers/cli-run.ts";
import { git } from "../helpers/remote.ts";

/** A user whose git has a name and e-mail address, or this `gitConfig`. */
function somebody(gitConfig = "[user]\nname = A\nemail = a@example.com\n"): ReturnType<typeof makeHome> {
  const home = makeHome();
  writeFileSync(join(home.home, ".gitconfig"), gitConfig);
  return home;
}

const make = (home: ReturnType<typeof makeHome>, args: string[], options: RunOptions = {}) =>
  svc(args, { home, ...options });

describe("svc <project-name>", () => {
  test("creates a prepared repository with one commit on main, whatever git's default branch is", async () => {
    const home = somebody(
      "[user]\nname = A\nemail = a@example.com\n[init]\ndefaultBranch = trunk\n[core]\nexcludesFile = ~/ignore\n",
    );
    writeFileSync(join(home.home, "ignore"), ".svc\n");
    // as in a hook of another repository
    const env = { GIT_DIR: join(home.home, "elsewhere"), GIT_INDEX_FILE: join(home.home, "index") };
    const ran = await make(home, ["my-shop", "--yes", "--json"], { env });
    expect([ran.code, ran.stderr]).toEqual([0, ""]);
    const folder = join(home.cwd, "my-shop");
    const answer = JSON.parse(ran.stdout);
    expect(answer).toMatchObject({ root: folder, branch: "main", dry_run: false });
    const asks = (...args: string[]) => git(["-C", folder, ...args]).trim();
    expect(asks("log", "--format=%H %an %s", "main")).toBe(`${answer.commit_sha} A Set up svc`);
    expect([asks("status", "--porcelain"), asks("branch", "--format=%(refname:short)")]).toEqual([
      "",
      "main",
    ]);
    const files: { path: string }[] = answer.files;
    expect(asks("ls-files").split("\n").toSorted()).toEqual(files.map(({ path }) => path).toSorted());
    expect(readManifest(readFileSync(join(folder, "svc.toml"), "utf8")).manifest?.project.name).toBe(
      "my-shop",
    );
    expect([readdirSync(home.cwd), existsSync(env.GIT_DIR)]).toEqual([["my-shop"], false]);
  });

  test("uses an empty folder, and no other", async () => {
    const home = somebody();
    mkdirSync(join(home.cwd, "empty"));
    expect((await make(home, ["empty", "--yes"])).code).toBe(0);
    mkdirSync(join(home.home, "outside"));
    mkdirSync(join(home.cwd, "full"));
    writeFileSync(join(home.cwd, "full/.keep"), "");
    writeFileSync(join(home.cwd, "a-file"), "");
    symlinkSync("nowhere", join(home.cwd, "dangling"));
    symlinkSync(join(home.home, "outside"), join(home.cwd, "linked"));
    const before = Bun.spawnSync(["ls", "-lAR", home.cwd]).stdout.toString();
    for (const name of ["full", "a-file", "dangling", "linked"]) {
      const ran = await make(home, [name, "--yes"]);
      expect([name, ran.code, ran.stdout]).toEqual([name, 1, ""]);
      expect(ran.stderr).toContain(name);
    }
    expect(Bun.spawnSync(["ls", "-lAR", home.cwd]).stdout.toString()).toBe(before);
    expect(readdirSync(join(home.home, "outside"))).toEqual([]);
  });

  test("leaves nothing behind if the commit fails, and reports git's message", async () => {
    const home = somebody("[user]\nuseConfigOnly = true\n");
    const ran = await make(home, ["my-shop", "--yes", "--json"]);
    expect([ran.code, ran.stdout, readdirSync(home.cwd)]).toEqual([1, "", []]);
    expect(JSON.parse(ran.stderr).error).toMatchObject({
      code: "git",
      message: expect.stringContaining("tell me who you are"),
    });
  });

  test("a dry run creates nothing", async () => {
    const home = somebody();
    const ran = await make(home, ["my-shop", "--dry-run"]);
    expect([ran.code, readdirSync(home.cwd)]).toEqual([0, []]);
    expect(ran.stdout).toStartWith("would write\tsvc.toml\t\n");
  });

  test.each([
    ["y", 0, ["my-shop"]],
    ["n", 1, []],
  ])("prompts for confirmation: %s", async (key, code, made) => {
    const home = somebody();
    const ran = svcOnTerminal(["my-shop"], { home });
    await ran.shows("Create a new project in ./my-shop?");
    ran.type(key);
    expect(await ran.exited).toMatchObject({ code });
    expect(readdirSync(home.cwd)).toEqual(made);
  });

  const names = TABLE.flatMap((node) =>
    isGroup(node) ? [node.name] : node.spec.hidden ? [] : namesOf(node.spec),
  );
  const slips = names
    .filter((name) => name.length > 3)
    .flatMap((name) => [name.slice(1), `${name}s`, `x${name}y`]);

  test.each([
    ["shop", "Did you mean `svc ship`?"],
    ["sesions", "Did you mean `svc sessions`?"],
    ["deply", "Did you mean `svc deploy`?"],
    ["My-Shop", "svc help"],
    ["my_shop", "svc help"],
    ["-my-shop", "--help"],
    ["my--shop", "svc help"],
    ["my-shop-", "svc help"],
    ["../my-shop", "svc help"],
    ["a/b", "svc help"],
    [".", "svc help"],
    ["a".repeat(41), "svc help"],
    ["<project-name>", "svc help"],
    ["my-shop now", "svc help"],
    ["my-shop --follow", "svc help"],
    ["my-shop --help", "svc help"],
  ])("`svc %s --yes` creates nothing, and exits with 2", async (line, hint) => {
    const home = somebody();
    const ran = await make(home, [...line.split(" "), "--yes"]);
    expect([ran.code, ran.stdout, readdirSync(home.cwd)]).toEqual([2, "", []]);
    expect(ran.stderr).toContain(hint);
  });

  test("does not treat a mistyped command as a project name", async () => {
    const home = somebody();
    const system = fakeSystem({
      env: { HOME: home.home },
      cwd: home.cwd,
    });
    for (const slip of slips.filter((slip) => !names.includes(slip))) {
      expect(names.some((name) => editDistance(name, slip) <= 2)).toBe(true);
      expect([slip, await run(system, [slip, "--dry-run"])]).toEqual([slip, 2]);
    }
    expect(system.out()).toBe("");
  });

  test("without a terminal and --yes it is an unknown command, and the error names --yes", async () => {
    const home = somebody();
    const ran = await make(home, ["my-shop"]);
    expect([ran.code, readdirSync(home.cwd)]).toEqual([2, []]);
    expect(ran.stderr).toContain("Unknown command: svc my-shop");
    expect(ran.stderr).toContain("svc my-shop --yes");
  });
});
