import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Api, startApi } from "../helpers/api.ts";
import { fakeApi, ME, TOKEN } from "../helpers/cli-api.ts";
import { cliEnv, makeHome, SVC, svc, textOf } from "../helpers/cli-run.ts";
import { git, Remote } from "../helpers/remote.ts";
import { type Shipper, shipper } from "../helpers/shipping.ts";

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const FIRST = ["--yes"];
const projects = async (): Promise<{ name: string; project_id: string }[]> =>
  (await api.call("GET", "/v1/projects?limit=200")).body.projects;
const gateway = (id: unknown) => `${api.url}/v1/git/${id}.git`;
/** The branches that the server has, asked as a client asks. */
async function branchesOf(who: Shipper, remote = "origin"): Promise<Record<string, string>> {
  const { code, out, err } = await who.asks("ls-remote", "--heads", remote);
  if (code !== 0) throw new Error(err);
  return Object.fromEntries(
    out
      .split("\n")
      .filter(Boolean)
      .map((line) => {
        const [id = "", ref = ""] = line.split("\t");
        return [ref.replace("refs/heads/", ""), id];
      }),
  );
}

describe("the first run", () => {
  test("makes the project, the link, the remote and the helper, and pushes; later runs push", async () => {
    const who = shipper(api);
    const first = who.commit({ a: "1\n" });
    const ran = await who.shipped(...FIRST, "--name", "The Shop");
    const { project_id } = ran;
    expect(ran).toEqual({
      project_id: expect.any(String),
      project_slug: "the-shop",
      created: true,
      remote: "origin",
      remote_url: gateway(project_id),
      branch: "main",
      commit_sha: first,
      pushed: true,
      dry_run: false,
    });
    expect(await branchesOf(who)).toEqual({ main: first });
    expect(JSON.parse(readFileSync(join(who.cwd, ".svc/link.json"), "utf8"))).toMatchObject({
      project_id,
      host: "team",
      host_url: `${api.url}/v1`,
    });
    expect(who.git("remote", "get-url", "origin")).toBe(gateway(project_id));
    expect(who.git("rev-parse", "--abbrev-ref", "main@{upstream}")).toBe("origin/main");
    expect(git(["-C", who.cwd, "config", "--local", "--list"])).not.toContain("svc_pat_");

    expect(await who.shipped()).toMatchObject({
      project_id,
      created: false,
      pushed: false,
      commit_sha: first,
    });
    const config = readFileSync(join(who.cwd, ".git/config"), "utf8");
    const second = who.commit({ b: "2\n" });
    expect(await who.shipped()).toMatchObject({
      project_id,
      created: false,
      pushed: true,
      commit_sha: second,
    });
    expect(await branchesOf(who)).toEqual({ main: second });
    expect(readFileSync(join(who.cwd, ".git/config"), "utf8")).toBe(config);
    expect((await projects()).filter(({ name }) => name === "The Shop")).toHaveLength(1);
    const { body } = await api.call("GET", `/v1/projects/${project_id}`);
    expect(body).toMatchObject({ managed: true, default_branch: "main", name: "The Shop" });
  }, 120_000);

  test("plain git goes on from there: pull, push, and no other helper is given the token", async () => {
    const who = shipper(api);
    const log = join(who.home.home, "helper.log");
    who.commit({ a: "1\n" });
    writeFileSync(
      join(who.home.home, ".gitconfig"),
      `[user]\nname = A\nemail = a@example.com\n[credential]\nhelper = "!f() { cat >> ${log}; }; f"\n`,
    );
    await who.shipped(...FIRST);
    who.commit({ b: "2\n" });
    for (const command of ["push", "pull", "fetch"]) {
      expect(await who.asks(command)).toMatchObject({ code: 0, err: expect.not.stringContaining("fatal") });
    }
    expect(existsSync(log)).toBe(false);
  }, 120_000);

  test("takes its name from --name, else svc.toml, else the folder", async () => {
    const rows: [string[], Record<string, string>, string][] = [
      [[], {}, "work"],
      [[], { "svc.toml": 'svc_version = 1\n[project]\nname = "From the manifest"\n' }, "From the manifest"],
      [["--name", "Given"], { "svc.toml": 'svc_version = 1\n[project]\nname = "x"\n' }, "Given"],
    ];
    for (const [args, files, name] of rows) {
      const who = shipper(api);
      who.commit({ a: "1\n", ...files });
      const { project_id } = await who.shipped(...FIRST, ...args);
      expect((await projects()).find((each) => each.project_id === project_id)?.name).toBe(name);
    }
  }, 120_000);

  test("without a terminal and without --yes it makes nothing and says so", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const before = await projects();
    const { code, stderr } = await who.ship();
    expect(code).toBe(2);
    expect(stderr).toContain("--yes");
    expect(await projects()).toEqual(before);
    expect(existsSync(join(who.cwd, ".svc"))).toBe(false);
  });

  test("leaves another origin alone and adds the remote svc", async () => {
    const who = shipper(api);
    const tip = who.commit({ a: "1\n" });
    who.git("remote", "add", "origin", "https://me:secret@git.example.com/shop.git");
    const { code, stderr, stdout } = await who.ship(FIRST);
    expect(code).toBe(0);
    expect(stderr).toContain("origin stays as it is: https://git.example.com/shop.git");
    expect(stderr + stdout).not.toContain("secret");
    expect(who.git("remote", "get-url", "origin")).toBe("https://me:secret@git.example.com/shop.git");
    expect(await branchesOf(who, "svc")).toEqual({ main: tip });
    who.commit({ b: "2\n" });
    expect(await who.shipped()).toMatchObject({ remote: "svc", pushed: true });
  }, 120_000);

  test("stops where origin and svc are both taken, and the next run goes on with the same project", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    who.git("remote", "add", "origin", "https://git.example.com/shop.git");
    who.git("remote", "add", "svc", "https://git.example.com/other.git");
    const ran = await who.ship([...FIRST, "--name", "Both taken"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("git remote rename svc");
    expect((await projects()).filter(({ name }) => name === "Both taken")).toHaveLength(0);
    who.git("remote", "rename", "svc", "other");
    expect(await who.shipped(...FIRST, "--name", "Both taken")).toMatchObject({
      remote: "svc",
      pushed: true,
    });
  }, 120_000);

  test("goes on where it stopped when the push failed, with the same project", async () => {
    const who = shipper(api);
    const tip = who.commit({ a: "1\n" });
    who.hook("pre-push", "echo not today; exit 1");
    const failed = await who.ship([...FIRST, "--name", "Twice"]);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("not today");
    expect(failed.stderr).toContain("goes on where it stopped");
    expect(existsSync(join(who.cwd, ".svc/link.json"))).toBe(true);
    rmSync(join(who.cwd, ".git/hooks/pre-push"));
    expect(await who.shipped()).toMatchObject({ created: false, pushed: true, commit_sha: tip });
    expect((await projects()).filter(({ name }) => name === "Twice")).toHaveLength(1);
  }, 120_000);

  test("makes no project where it could not be linked", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const elsewhere = makeHome().cwd;
    git(["-C", who.cwd, "config", "core.excludesFile", "/dev/null"]);
    Bun.spawnSync(["ln", "-s", elsewhere, join(who.cwd, ".svc")]);
    const { code, stderr } = await who.ship([...FIRST, "--name", "Unlinkable"]);
    expect([code, stderr.includes("symbolic link")]).toEqual([1, true]);
    expect((await projects()).filter(({ name }) => name === "Unlinkable")).toHaveLength(0);
  });

  test("makes a repository of a folder with --yes --commit, on the branch that the user begins with", async () => {
    const who = shipper(api, { branch: null, gitConfig: "[init]\ndefaultBranch = trunk\n" });
    who.write({ a: "1\n", "b/c": "2\n" });
    for (const args of [[], ["--yes"], ["--commit"]]) {
      const { code, stderr } = await who.ship(args);
      expect([args, code, stderr.includes("--yes --commit")]).toEqual([args, 2, true]);
      expect(existsSync(join(who.cwd, ".git"))).toBe(false);
    }
    const ran = await who.shipped("--yes", "--commit", "--message", "Begin");
    expect(ran).toMatchObject({ created: true, pushed: true, branch: "trunk" });
    expect(who.git("log", "--format=%s")).toBe("Begin");
    expect(who.git("ls-tree", "-r", "--name-only", "HEAD")).toBe("a\nb/c");
  }, 120_000);

  test("works from a folder below: link and manifest are those of the top", async () => {
    const who = shipper(api);
    who.commit({ "deep/a": "1\n", "svc.toml": 'svc_version = 1\n[project]\nname = "Deep"\n' });
    const { stdout } = await who.ship([...FIRST, "--json"], { cwd: join(who.cwd, "deep") });
    expect(JSON.parse(stdout)).toMatchObject({ project_slug: "deep", created: true });
    expect(existsSync(join(who.cwd, ".svc/link.json"))).toBe(true);
  });

  test("a link above the repository is that of another one", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const outer = await who.shipped(...FIRST, "--name", "Outer");
    const inner = join(who.cwd, "inner");
    mkdirSync(inner);
    git(["-C", inner, "init", "--quiet", "-b", "main"]);
    git(["-C", inner, "commit", "--quiet", "--allow-empty", "-m", "x"]);
    const { stdout } = await who.ship([...FIRST, "--json"], { cwd: inner });
    const made = JSON.parse(stdout);
    expect(made).toMatchObject({ created: true, project_slug: "inner" });
    expect(made.project_id).not.toBe(outer["project_id"]);
  }, 120_000);
});

describe("--dry-run says everything and does nothing", () => {
  const state = (who: Shipper) => [
    Bun.spawnSync(["find", who.cwd, "-newer", join(who.home.home, "mark"), "-type", "f"]).stdout.toString(),
    who.git("for-each-ref"),
    readFileSync(join(who.cwd, ".git/config"), "utf8"),
    who.git("--no-optional-locks", "status", "--porcelain"),
  ];

  test("before the first run, and after it", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    who.write({ b: "2\n" });
    writeFileSync(join(who.home.home, "mark"), "");
    const before = [...state(who), await projects()];
    const ran = await who.ship(["--dry-run", "--commit", "--name", "Dry"]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toBe(
      [
        "Would commit 1 path",
        "Would make the project Dry on team",
        "Would add the remote origin",
        "Would let svc sign git in to team",
        "Would push main to origin\n",
      ].join("\n"),
    );
    expect([...state(who), await projects()]).toEqual(before);

    const { project_id, commit_sha } = await who.shipped(...FIRST, "--name", "Dry");
    who.commit({ c: "3\n" });
    const next = await who.ship(["--dry-run"]);
    expect(next).toMatchObject({ code: 0, stdout: `Would push main to origin, ${gateway(project_id)}\n` });
    expect(await branchesOf(who)).toEqual({ main: String(commit_sha) });
    expect(await who.shipped("--dry-run")).toMatchObject({ pushed: true, dry_run: true, created: false });
    await who.shipped();
    expect((await who.ship(["--dry-run"])).stdout).toStartWith("Would push nothing: main (");
    expect(await who.shipped("--dry-run")).toMatchObject({ pushed: false, dry_run: true });
  }, 120_000);

  test("in a folder that is no repository", async () => {
    const who = shipper(api, { branch: null });
    who.write({ a: "1\n" });
    const { code, stdout } = await who.ship(["--dry-run", "--commit"]);
    expect(code).toBe(0);
    expect(stdout).toStartWith(`Would make ${who.cwd} a git repository\nWould commit `);
    expect(existsSync(join(who.cwd, ".git"))).toBe(false);
  });

  test("a refusal is told as that of a real run", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    await who.shipped(...FIRST);
    who.git("commit", "--quiet", "--amend", "-m", "rewritten");
    const { code, stderr } = await who.ship(["--dry-run"]);
    expect([code, stderr.includes("git pull --rebase origin main")]).toEqual([1, true]);
  }, 120_000);
});

describe("what is not committed", () => {
  test("is listed, bounded and without control characters, and stays behind", async () => {
    const who = shipper(api);
    const tip = who.commit({ a: "1\n" });
    await who.shipped(...FIRST);
    rmSync(join(who.cwd, ".svc"), { recursive: true });
    who.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
    who.write({
      a: "changed\n",
      "evil\x1b]0;x\x07\n.txt": "",
      ...Object.fromEntries([...Array(20)].map((_, n) => [`f${n}`, ""])),
    });
    who.git("add", "f0");
    const { code, stderr } = await who.ship();
    expect(code).toBe(0);
    expect(stderr).toContain(
      "22 paths not committed, so not shipped (`svc ship --commit` commits):\n  M a\n  A f0\n  ? evil\\x1b]0;x\\x07\\n.txt\n",
    );
    expect(stderr).toContain("  and 12 more\n");
    expect(stderr).not.toMatch(/\x1b|\x07/);
    expect(await branchesOf(who)).toEqual({ main: tip });
    expect(who.git("status", "--porcelain", "f0")).toBe("A  f0");
  }, 120_000);

  test("is committed as a whole with --commit, from wherever it is said, with the user's hooks", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n", gone: "x\n", ".gitignore": "ignored\n" });
    await who.shipped(...FIRST);
    rmSync(join(who.cwd, "gone"));
    who.write({ a: "2\n", "new/b": "3\n", ignored: "4\n" });
    who.hook("pre-commit", "echo from the hook");
    const { code, stderr } = await who.ship(["--commit", "-m", "--all of it"], { cwd: join(who.cwd, "new") });
    expect([code, stderr.includes("from the hook")]).toEqual([0, true]);
    expect(who.git("log", "-1", "--format=%B").trim()).toBe("--all of it");
    expect(who.git("ls-tree", "-r", "--name-only", "HEAD").split("\n")).toEqual([
      ".gitignore",
      ".svc/link.json",
      "a",
      "new/b",
    ]);
    expect(await branchesOf(who)).toEqual({ main: who.git("rev-parse", "HEAD") });
    expect(await who.shipped("--commit")).toMatchObject({ pushed: false });
  }, 120_000);

  test("stays uncommitted when a hook refuses, and nothing is pushed or made", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    who.write({ a: "2\n" });
    who.hook("pre-commit", "echo the linter says no >&2; exit 1");
    const { code, stderr } = await who.ship([...FIRST, "--commit", "--name", "Hooked"]);
    expect([code, stderr.includes("the linter says no")]).toEqual([1, true]);
    const json = await who.ship([...FIRST, "--commit", "--json"]);
    expect(json).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(json.stderr).error).toMatchObject({
      code: "git",
      message: expect.stringContaining("the linter says no"),
    });
    expect((await projects()).filter(({ name }) => name === "Hooked")).toHaveLength(0);
  }, 120_000);
});

describe("svc.toml", () => {
  test.each<[string, string, string[]]>([
    ["not TOML", "svc_version = 1\n[project\n", ["svc.toml:2:9: The file is not TOML"]],
    [
      "two errors",
      'svc_version = 1\n[change_requests]\nagent_merge = "no"\ndirect_push = 1\n',
      [
        "svc.toml has 2 errors",
        "svc.toml:3:15: change_requests.agent_merge",
        "svc.toml:4:15: change_requests.direct_push",
      ],
    ],
    [
      "a Dockerfile that is not there",
      'svc_version = 1\n[sandbox]\ndockerfile = "Dockerfile"\n',
      ['svc.toml:3:14: sandbox.dockerfile names the file "Dockerfile", which the repository does not have.'],
    ],
    ["hostile", "svc_version = 2 # \\u001b\n", ["svc.toml:1:15: svc_version has to be 1"]],
  ])("with errors stops the run and names the lines: %s", async (_, text, says) => {
    const who = shipper(api);
    who.commit({ "svc.toml": text });
    const before = await projects();
    const ran = await who.ship(FIRST);
    expect(ran.code).toBe(1);
    for (const each of says) expect(ran.stderr).toContain(each);
    expect(await projects()).toEqual(before);
    const json = JSON.parse((await who.ship([...FIRST, "--json"])).stderr);
    expect(json.error.code).toBe("manifest_invalid");
  });

  test("with warnings is shipped, and they are shown", async () => {
    const who = shipper(api);
    who.commit({ "svc.toml": "svc_version = 1\n[typo]\n" });
    const { code, stderr } = await who.ship(FIRST);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("warning: svc.toml:2:2: typo is not known here"),
    ]);
  });

  test("is read as it is shipped: of the commit, or of the files that --commit takes", async () => {
    const who = shipper(api);
    who.commit({ "svc.toml": "svc_version = 1\n" });
    await who.shipped(...FIRST);
    who.write({ "svc.toml": "broken" });
    expect((await who.ship()).code).toBe(0);
    expect((await who.ship(["--commit"])).stderr).toContain("svc.toml:1:1");
    expect(who.git("status", "--porcelain", "svc.toml")).toBe(" M svc.toml");
    who.commit({ "svc.toml": "broken" });
    expect((await who.ship()).stderr).toContain("svc.toml:1:1");
    who.write({ "svc.toml": "svc_version = 1\n" });
    expect(await who.shipped("--commit")).toMatchObject({ pushed: true });
  }, 120_000);

  test("that is no plain file, or too large, stops the run", async () => {
    const who = shipper(api);
    Bun.spawnSync(["ln", "-s", "/etc/passwd", join(who.cwd, "svc.toml")]);
    who.git("add", "svc.toml");
    expect((await who.ship([...FIRST, "--commit"])).stderr).toContain("not a plain file");
    who.git("commit", "--quiet", "-m", "x");
    expect((await who.ship(FIRST)).stderr).toContain("not a plain file");
    rmSync(join(who.cwd, "svc.toml"));
    who.commit({ "svc.toml": "#".repeat(300_000) });
    expect((await who.ship(FIRST)).stderr).toContain("larger than");
  });
});

describe("where nothing can be shipped from, it says what to do", () => {
  /** Two branches that change the same file; main is checked out. */
  const apart = (who: Shipper) => {
    who.commit({ a: "1" });
    who.git("switch", "--quiet", "-c", "other");
    who.commit({ a: "2" });
    who.git("switch", "--quiet", "main");
    who.commit({ a: "3" });
  };
  const rows: [string, (who: Shipper) => unknown, string[], number, string][] = [
    ["no commit yet", () => {}, [], 1, "svc ship --commit"],
    ["no commit, and nothing to commit", () => {}, ["--commit"], 1, "no commit yet"],
    [
      "a detached HEAD",
      (who) => who.commit({ a: "1" }) && who.git("switch", "--detach"),
      [],
      1,
      "git switch -c",
    ],
    [
      "a rebase that stopped",
      (who) => [apart(who), who.asks("rebase", "other")][1],
      [],
      1,
      "git rebase --continue",
    ],
    [
      "a merge that stopped",
      (who) => [apart(who), who.asks("merge", "other")][1],
      ["--commit"],
      1,
      "A merge is not",
    ],
    ["a bare repository", (who) => who.git("config", "core.bare", "true"), [], 1, "(bare)"],
    [
      "another branch than main on the first run",
      (who) => who.commit({ a: "1" }) && who.git("switch", "--quiet", "-c", "fix"),
      [],
      1,
      "git switch main",
    ],
    ["--message without --commit", (who) => who.commit({ a: "1" }), ["-m", "x"], 2, "--commit"],
  ];
  test.each(rows)("%s", async (_, arrange, args, code, says) => {
    const who = shipper(api);
    await arrange(who);
    const before = await projects();
    const ran = await who.ship([...FIRST, ...args]);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([code, "", expect.stringContaining(says)]);
    expect(await projects()).toEqual(before);
  });

  test("a shallow clone cannot begin a repository", async () => {
    const who = shipper(api, { branch: null });
    const remote = new Remote();
    remote.commit("main", { a: "1\n" });
    remote.commit("main", { a: "2\n" });
    git(["clone", "--quiet", "--depth=1", remote.url, join(who.cwd, "clone")]);
    const { code, stderr } = await who.ship(FIRST, { cwd: join(who.cwd, "clone") });
    expect([code, stderr]).toEqual([1, expect.stringContaining("git fetch --unshallow")]);
  });

  test("a machine without git", async () => {
    const who = shipper(api);
    const bin = join(who.home.home, "bin");
    mkdirSync(bin);
    Bun.spawnSync(["ln", "-s", process.execPath, join(bin, "bun")]);
    const { code, stderr } = await who.ship(FIRST, { env: { PATH: bin } });
    expect([code, stderr]).toEqual([1, expect.stringContaining("Install git")]);
  });

  test("nobody signed in", async () => {
    const who = shipper(api);
    writeFileSync(who.home.config, JSON.stringify({ active: "team", hosts: { team: { url: api.url } } }));
    const { code, stderr } = await who.ship(FIRST);
    expect([code, stderr]).toEqual([1, expect.stringContaining("svc login")]);
  });
});

describe("branches", () => {
  test("another than the default one is pushed to its own name, with the way on", async () => {
    const who = shipper(api);
    const main = who.commit({ a: "1\n" });
    await who.shipped(...FIRST);
    who.git("switch", "--quiet", "-c", "fix/it");
    const tip = who.commit({ b: "2\n" });
    const ran = await who.ship();
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('svc cr open --title "…" --head fix/it');
    expect(await branchesOf(who)).toEqual({ main, "fix/it": tip });
    const cr = await svc(["cr", "open", "--title", "T", "--json=head_ref,base_ref"], { home: who.home });
    expect(JSON.parse(cr.stdout)).toEqual({ head_ref: "fix/it", base_ref: "main" });
  }, 120_000);

  test("are names to git and to the terminal, whatever they are", async () => {
    const who = shipper(api);
    const main = who.commit({ a: "1\n" });
    await who.shipped(...FIRST);
    const names = [
      "$(touch${IFS}pwned)",
      "a;touch${IFS}pwned",
      "(detached)",
      "--mirror",
      "+main",
      "\u202eniam",
    ];
    for (const name of names) {
      who.git("update-ref", `refs/heads/${name}`, main);
      who.git("symbolic-ref", "HEAD", `refs/heads/${name}`);
      const { code, stdout, stderr } = await who.ship();
      expect(stdout + stderr).not.toContain("\u202e");
      if (code === 0) expect(Object.keys(await branchesOf(who))).toContain(name);
      else expect([name, stderr]).toEqual([name, expect.stringContaining("refused it")]);
    }
    expect(Object.keys(await branchesOf(who)).every((name) => name === "main" || names.includes(name))).toBe(
      true,
    );
    expect(existsSync(join(who.cwd, "pwned"))).toBe(false);
  }, 120_000);

  test("wait for a default branch that is empty yet", async () => {
    const who = shipper(api, { branch: "master" });
    who.commit({ a: "1\n" });
    const { body } = await api.call("POST", "/v1/projects", { body: { name: "Empty" } });
    await svc(["projects", "link", body.project_id], { home: who.home });
    const { code, stderr } = await who.ship();
    expect([code, stderr]).toEqual([1, expect.stringContaining("git branch -m main")]);
    who.git("branch", "-m", "main");
    expect(await who.shipped()).toMatchObject({ pushed: true, branch: "main" });
  }, 120_000);
});

describe("refusals", () => {
  test("the rules of the gateway, in the server's words", async () => {
    const who = shipper(api);
    who.commit({ "svc.toml": "svc_version = 1\n[change_requests]\ndirect_push = false\n" });
    await who.shipped(...FIRST);
    who.commit({ b: "2\n" });
    const plain = await who.ship();
    expect(plain).toMatchObject({ code: 1, stdout: "" });
    expect(plain.stderr).toMatch(/remote: .*svc cr open/);
    expect(plain.stderr).toMatch(
      /error: main was not pushed\. origin refused it: this project changes its default branch only by/,
    );
    const json = await who.ship(["--json"]);
    expect(json).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(json.stderr).error).toEqual({
      code: "push_rejected",
      message: expect.stringContaining("svc cr open"),
    });
    who.git("switch", "--quiet", "-c", "fix");
    expect(await who.shipped()).toMatchObject({ branch: "fix", pushed: true });
  }, 120_000);

  test("commits that only the other side has: pull, then ship", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const { project_id } = await who.shipped(...FIRST);
    const other = shipper(api);
    other.git("remote", "add", "origin", gateway(project_id));
    other.git("config", "credential.helper", `!f() { echo username=x; echo password=${api.token}; }; f`);
    await other.asks("pull", "origin", "main");
    other.commit({ theirs: "1\n" });
    expect(await other.asks("push", "origin", "main")).toMatchObject({ code: 0 });
    who.commit({ ours: "1\n" });
    const { code, stderr } = await who.ship();
    expect([code, stderr.match(/hint:/g)?.length]).toEqual([1, 1]);
    expect(stderr).toContain("`git pull --rebase origin main`");
    expect(JSON.parse((await who.ship(["--json"])).stderr).error.code).toBe("not_fast_forward");
    expect(await who.asks("pull", "--quiet", "--rebase", "origin", "main")).toMatchObject({ code: 0 });
    expect(await who.shipped()).toMatchObject({ pushed: true });
  }, 120_000);

  test("a token that the server no longer takes", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    await who.shipped(...FIRST);
    const config = JSON.parse(readFileSync(who.home.config, "utf8"));
    config.hosts.team.token = `${"svc_pat_"}${"x".repeat(43)}`;
    writeFileSync(who.home.config, JSON.stringify(config));
    const { code, stderr } = await who.ship();
    expect([code, stderr]).toEqual([1, expect.stringContaining("svc login")]);
  });
});

describe("projects that are there already", () => {
  test("on another git host: pushed to their own origin, with nothing set up", async () => {
    const who = shipper(api);
    const remote = new Remote();
    remote.commit("main", { a: "1\n" });
    const { project_id } = await api.project(remote.url, { name: "External" });
    git(["-C", who.cwd, "remote", "add", "origin", remote.url]);
    git(["-C", who.cwd, "pull", "--quiet", "origin", "main"]);
    await svc(["projects", "link", project_id], { home: who.home });
    const config = readFileSync(join(who.cwd, ".git/config"), "utf8");
    const tip = who.commit({ b: "2\n" });
    expect(await who.shipped("--dry-run")).toMatchObject({ pushed: true, remote_url: remote.url });
    expect(await who.shipped()).toMatchObject({ project_id, created: false, pushed: true, remote: "origin" });
    expect(remote.sha("main")).toBe(tip);
    expect(readFileSync(join(who.cwd, ".git/config"), "utf8")).not.toContain("credential");
    expect(readFileSync(join(who.cwd, ".git/config"), "utf8").startsWith(config)).toBe(true);
    remote.hook("pre-receive", "echo main is frozen; exit 1");
    who.commit({ c: "3\n" });
    const refused = await who.ship();
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("remote: main is frozen")]);
    who.git("remote", "remove", "origin");
    expect((await who.ship()).stderr).toContain(`git remote add origin ${remote.url}`);
    remote.remove();
  }, 120_000);

  test("a clone by the gateway's address is known by it, and is linked", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const { project_id } = await who.shipped(...FIRST);
    const other = shipper(api);
    other.git("remote", "add", "upstream", gateway(project_id));
    other.git("config", "credential.helper", `!f() { echo username=x; echo password=${api.token}; }; f`);
    await other.asks("pull", "upstream", "main");
    other.commit({ b: "2\n" });
    expect(await other.shipped()).toMatchObject({
      project_id,
      created: false,
      pushed: true,
      remote: "upstream",
    });
    expect(JSON.parse(readFileSync(join(other.cwd, ".svc/link.json"), "utf8")).project_id).toBe(project_id);
  }, 120_000);

  test("the remote follows a host whose address is another now", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const { project_id } = await who.shipped(...FIRST);
    const url = api.url.replace("127.0.0.1", "localhost");
    writeFileSync(
      who.home.config,
      JSON.stringify({ active: "team", hosts: { team: { url, token: api.token } } }),
    );
    expect((await who.ship()).stderr).toContain("svc projects link");
    await svc(["projects", "link", String(project_id)], { home: who.home });
    who.commit({ b: "2\n" });
    const { code, stderr } = await who.ship();
    expect([code, stderr]).toEqual([0, expect.stringContaining("Changed the remote origin")]);
    expect(who.git("remote", "get-url", "--all", "origin")).toBe(`${url}/v1/git/${project_id}.git`);
  }, 120_000);

  test("a link to a project that is gone says how to go on", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const { project_id } = await who.shipped(...FIRST);
    await api.call("DELETE", `/v1/projects/${project_id}`);
    expect((await who.ship()).stderr).toContain("svc projects unlink");
    await svc(["projects", "unlink"], { home: who.home });
    who.git("remote", "remove", "origin");
    expect(await who.shipped(...FIRST)).toMatchObject({ created: true, pushed: true });
  }, 120_000);

  test("by the environment alone: an address, a token, and no configuration", async () => {
    const who = shipper(api);
    rmSync(dirname(who.home.config), { recursive: true });
    who.commit({ a: "1\n" });
    const env = { SVC_API_URL: `${api.url}/v1`, SVC_CLI_TOKEN: api.token };
    const { stdout, stderr } = await who.ship([...FIRST, "--json"], { env });
    expect([stderr, JSON.parse(stdout)]).toEqual([
      "",
      expect.objectContaining({ created: true, pushed: true }),
    ]);
  });

  test("in a sandbox the remote and the credential are there already", async () => {
    const who = shipper(api);
    const remote = new Remote();
    const tip = who.commit({ a: "1\n" });
    who.git("remote", "add", "origin", remote.url);
    const { body } = await api.call("POST", "/v1/projects", { body: { name: "Sandboxed" } });
    const { token } = (await api.call("POST", `/v1/projects/${body.project_id}/cli-token`)).body;
    const env = {
      SVC_API_URL: `${api.url}/v1`,
      SVC_CLI_TOKEN: token,
      SVC_PROJECT_ID: body.project_id,
      SVC_SESSION_ID: "s",
    };
    const { stdout, stderr } = await who.ship(["--json"], { env });
    expect([stderr, JSON.parse(stdout)]).toEqual([
      "",
      expect.objectContaining({ pushed: true, remote: "origin" }),
    ]);
    expect(remote.sha("main")).toBe(tip);
    expect(who.git("config", "--local", "--list")).not.toContain("credential");
    expect(existsSync(join(who.cwd, ".svc"))).toBe(false);
    remote.remove();
  });
});

describe("ends with the push", () => {
  // A hook that outlives git holds its standard output.
  const waiting = (who: Shipper) =>
    who.hook("pre-push", `echo $$ > ${who.home.home}/hook.pid; exec sleep 60 2>/dev/null`);
  const untilWaiting = async (who: Shipper) => {
    const file = join(who.home.home, "hook.pid");
    while (!existsSync(file) || readFileSync(file, "utf8") === "") await Bun.sleep(10);
    return Number(readFileSync(file, "utf8"));
  };
  const untilGone = async (pid: number) => {
    while (existsSync(`/proc/${pid}`)) await Bun.sleep(10);
  };

  test("Ctrl-C on a terminal ends git and svc, by the signal", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    waiting(who);
    const terminal = who.onTerminal("--yes");
    await untilWaiting(who);
    terminal.type("\x03");
    expect(await terminal.exited).toEqual({ code: null, signal: "SIGINT" });
    rmSync(join(who.cwd, ".git/hooks/pre-push"));
    expect(await who.shipped()).toMatchObject({ created: false, pushed: true });
  }, 120_000);

  test("--timeout ends it, and whoever works for git", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    await who.shipped(...FIRST);
    waiting(who);
    // Long enough for the server's answers, which it holds for too, on a busy machine.
    const { code, stderr } = await who.ship(["--timeout", "5"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("git push was ended after 5 seconds")]);
    await untilGone(await untilWaiting(who));
  }, 120_000);

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s to svc alone ends them all, by the signal",
    async (signal) => {
      const who = shipper(api);
      who.commit({ a: "1\n" });
      waiting(who);
      const child = Bun.spawn([...SVC, "ship", "--yes"], {
        cwd: who.cwd,
        env: cliEnv(who.home.home),
        stdio: ["ignore", "ignore", "pipe"],
      });
      const hook = await untilWaiting(who);
      child.kill(signal);
      // Until the last of them has closed it.
      await textOf(child.stderr);
      await child.exited;
      expect(child.signalCode).toBe(signal);
      await untilGone(hook);
    },
    120_000,
  );
});

describe("on a terminal", () => {
  const plain = (screen: string) => Bun.stripANSI(screen).replaceAll("\r\n", "\n");

  test("it asks before it makes a repository and a project, and shows git's progress", async () => {
    const who = shipper(api, { branch: null });
    who.write(Object.fromEntries([...Array(50)].map((_, n) => [`f${n}`, `${n}\n`])));
    const terminal = who.onTerminal("--commit", "--name", "Asked");
    await terminal.shows("is not in a git repository. Make it one?");
    terminal.type("y");
    await terminal.shows("Make the project Asked on team, and push main to it?");
    terminal.type("y");
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    const screen = plain(terminal.screen());
    expect(screen).toContain("and 40 more");
    expect(screen).toContain("Made the project Asked (asked).");
    expect(screen).toMatch(/Writing objects: 100% \(5\d\/5\d\)/);
    expect(screen).toContain("Pushed main (");
  }, 120_000);

  test("it asks for the account where there are several; --account says it", async () => {
    const fake = fakeApi();
    const other = "66666666-6666-4666-8666-666666666666";
    const [own] = ME.accounts;
    const accounts = [own, { ...own, account_id: other, name: "The Team" }];
    fake.on("GET /accounts/me", () => ({ ...ME, accounts }));
    const who = shipper({ url: fake.url, token: TOKEN });
    who.commit({ a: "1\n" });
    const made = () => fake.seen.find(({ method }) => method === "POST")?.body;
    await who.ship([...FIRST, "--account", other, "--name", "A"]);
    expect(made()).toEqual({ name: "A", default_branch: "main", account_id: other });
    rmSync(join(who.cwd, ".svc"), { recursive: true });
    fake.seen.length = 0;
    const terminal = who.onTerminal("--name", "B");
    await terminal.shows("Which account is the project for?");
    terminal.type("\x1b[B\r");
    await terminal.shows("Make the project B");
    terminal.type("y");
    await terminal.exited;
    expect(made()).toEqual({ name: "B", default_branch: "main", account_id: other });
    fake.stop();
  }, 120_000);

  test("no makes nothing", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const terminal = who.onTerminal("--name", "Declined");
    await terminal.shows("Make the project Declined");
    terminal.type("n");
    expect(await terminal.exited).toEqual({ code: 1, signal: null });
    expect((await projects()).filter(({ name }) => name === "Declined")).toHaveLength(0);
    expect(existsSync(join(who.cwd, ".svc"))).toBe(false);
  }, 120_000);
});

test("deploy is the same command", async () => {
  const who = shipper(api);
  who.commit({ a: "1\n" });
  const ran = await svc(["deploy", "--yes", "--json=created"], { home: who.home });
  expect([ran.code, ran.stdout]).toEqual([0, '{"created":true}\n']);
});
