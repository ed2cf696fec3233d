import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Api, startApi } from "../helpers/api.ts";
import { fakeApi, ME, TOKEN } from "../helpers/cli-api.ts";
import { makeHome, spawnSvc, svc, textOf } from "../helpers/cli-run.ts";
import { sample } from "../helpers/random.ts";
import { git, Remote } from "../helpers/remote.ts";
import { type Shipper, shipper } from "../helpers/shipping.ts";
import { until } from "../helpers/until.ts";

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const FIRST = ["--yes"];
const projects = async (): Promise<{ name: string; project_id: string }[]> =>
  (await api.call("GET", "/v1/projects?limit=200")).body.projects;
const gateway = (id: unknown) => `${api.url}/v1/git/${id}.git`;

let settled: Shipper | undefined;
/** Somebody who has shipped main before, with nothing but `a` in it at first: for what begins there and may go on there. */
async function begun(): Promise<Shipper> {
  if (settled === undefined) {
    settled = shipper(api);
    settled.commit({ a: "1\n" });
    await settled.shipped(...FIRST, "--name", "Begun");
  }
  rmSync(join(settled.cwd, ".git/hooks"), { recursive: true, force: true });
  settled.git("switch", "--quiet", "--discard-changes", "main");
  settled.git("clean", "--quiet", "--force", "-d", "--exclude=.svc");
  return settled;
}

/** The server's branches, listed by a git client. */
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
  test("creates the project, link, remote and credential helper, and pushes; later runs and plain git push, too", async () => {
    const log = join(makeHome().home, "helper.log");
    const gitConfig = `[credential]\nhelper = "!f() { cat >> ${log}; }; f"\n`;
    const who = shipper(api, { gitConfig });
    const first = who.commit({ a: "1\n", "svc.toml": 'svc_version = 1\n[project]\nname = "x"\n' });
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

    who.commit({ c: "3\n" });
    for (const command of ["push", "pull", "fetch"]) {
      expect(await who.asks(command)).toMatchObject({ code: 0, err: expect.not.stringContaining("fatal") });
    }
    // No other helper is given the token.
    expect(existsSync(log)).toBe(false);
  });

  test("without a terminal and --yes creates nothing, with an error", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const before = await projects();
    const { code, stderr } = await who.ship();
    expect(code).toBe(2);
    expect(stderr).toContain("--yes");
    expect(await projects()).toEqual(before);
    expect(existsSync(join(who.cwd, ".svc"))).toBe(false);
  });

  test("keeps another origin and adds the remote svc; stops before any change if svc is in use", async () => {
    const who = shipper(api);
    const tip = who.commit({ a: "1\n" });
    who.git("remote", "add", "origin", "https://me:secret@git.example.com/shop.git");
    who.git("remote", "add", "svc", "https://git.example.com/other.git");
    const taken = await who.ship([...FIRST, "--name", "Both taken"]);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining("git remote rename svc")]);
    expect((await projects()).filter(({ name }) => name === "Both taken")).toHaveLength(0);
    who.git("remote", "rename", "svc", "other");
    const { code, stderr, stdout } = await who.ship([...FIRST, "--name", "Both taken"]);
    expect(code).toBe(0);
    expect(stderr).toContain("origin is unchanged: https://git.example.com/shop.git");
    expect(stderr + stdout).not.toContain("secret");
    expect(who.git("remote", "get-url", "origin")).toBe("https://me:secret@git.example.com/shop.git");
    expect(await branchesOf(who, "svc")).toEqual({ main: tip });
    who.commit({ b: "2\n" });
    expect(await who.shipped()).toMatchObject({ remote: "svc", pushed: true });
  });

  test("after a failed push, continues with the same project", async () => {
    const who = shipper(api);
    const tip = who.commit({ a: "1\n" });
    who.hook("pre-push", "echo not today; exit 1");
    const failed = await who.ship([...FIRST, "--name", "Twice"]);
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("not today");
    expect(failed.stderr).toContain("continues where it stopped");
    expect(existsSync(join(who.cwd, ".svc/link.json"))).toBe(true);
    rmSync(join(who.cwd, ".git/hooks/pre-push"));
    expect(await who.shipped()).toMatchObject({ created: false, pushed: true, commit_sha: tip });
    expect((await projects()).filter(({ name }) => name === "Twice")).toHaveLength(1);
  });

  test("creates no project if the link cannot be written", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const elsewhere = makeHome().cwd;
    git(["-C", who.cwd, "config", "core.excludesFile", "/dev/null"]);
    Bun.spawnSync(["ln", "-s", elsewhere, join(who.cwd, ".svc")]);
    const { code, stderr } = await who.ship([...FIRST, "--name", "Unlinkable"]);
    expect([code, stderr.includes("symbolic link")]).toEqual([1, true]);
    expect((await projects()).filter(({ name }) => name === "Unlinkable")).toHaveLength(0);
  });

  test("creates a repository with --yes --commit, on the user's default branch", async () => {
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
  });

  test("in a subfolder uses link, manifest and name of the repository's root; a nested repository has its own", async () => {
    const who = shipper(api);
    who.commit({ "deep/a": "1\n", "svc.toml": 'svc_version = 1\n[project]\nname = "From the manifest"\n' });
    const outer = JSON.parse((await who.ship([...FIRST, "--json"], { cwd: join(who.cwd, "deep") })).stdout);
    expect(outer).toMatchObject({ project_slug: "from-the-manifest", created: true });
    expect(existsSync(join(who.cwd, ".svc/link.json"))).toBe(true);
    const within = join(who.cwd, "Inner one");
    mkdirSync(within);
    git(["-C", within, "init", "--quiet", "-b", "main"]);
    git(["-C", within, "commit", "--quiet", "--allow-empty", "-m", "x"]);
    const inner = JSON.parse((await who.ship([...FIRST, "--json"], { cwd: within })).stdout);
    expect(inner).toMatchObject({ created: true, project_slug: "inner-one" });
    const names = (await projects()).filter(({ project_id }) =>
      [outer.project_id, inner.project_id].includes(project_id),
    );
    expect(names.map(({ name }) => name).toSorted()).toEqual(["From the manifest", "Inner one"]);
  });
});

describe("--dry-run reports everything and changes nothing", () => {
  const state = (who: Shipper) => [
    Bun.spawnSync(["find", who.cwd, "-newer", join(who.home.home, "mark"), "-type", "f"]).stdout.toString(),
    who.git("for-each-ref"),
    readFileSync(join(who.cwd, ".git/config"), "utf8"),
    who.git("--no-optional-locks", "status", "--porcelain"),
  ];

  test("before and after the first run, with the errors of a real run", async () => {
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
        "Would create the project Dry on team",
        "Would add the remote origin",
        "Would configure svc as git's credential helper for team",
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

    who.git("commit", "--quiet", "--amend", "-m", "rewritten");
    const { code, stderr } = await who.ship(["--dry-run"]);
    expect([code, stderr.includes("git pull --rebase origin main")]).toEqual([1, true]);
  });

  test("in a folder that is not a repository", async () => {
    const who = shipper(api, { branch: null });
    who.write({ a: "1\n" });
    const { code, stdout } = await who.ship(["--dry-run", "--commit"]);
    expect(code).toBe(0);
    expect(stdout).toStartWith(`Would make ${who.cwd} a git repository\nWould commit `);
    expect(existsSync(join(who.cwd, ".git"))).toBe(false);
  });
});

describe("uncommitted changes", () => {
  test("are listed, up to a limit and without control characters, and are not pushed", async () => {
    const who = await begun();
    const tip = who.git("rev-parse", "HEAD");
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
    expect(await branchesOf(who)).toMatchObject({ main: tip });
    expect(who.git("status", "--porcelain", "f0")).toBe("A  f0");
  });

  test("are all committed with --commit, from any folder, with the user's hooks", async () => {
    const who = await begun();
    who.commit({ gone: "x\n", ".gitignore": "ignored\n" });
    rmSync(join(who.cwd, "gone"));
    who.write({ a: "2\n", "new/b": "3\n", ignored: "4\n" });
    who.hook("pre-commit", "echo from the hook");
    const { code, stderr } = await who.ship(["--commit", "-m", "--all of it"], { cwd: join(who.cwd, "new") });
    expect([code, stderr.includes("from the hook")]).toEqual([0, true]);
    expect(who.git("log", "-1", "--format=%B").trim()).toBe("--all of it");
    expect(who.git("ls-tree", "-r", "--name-only", "HEAD").split("\n")).toEqual([".gitignore", "a", "new/b"]);
    expect(await branchesOf(who)).toMatchObject({ main: who.git("rev-parse", "HEAD") });
    expect(await who.shipped("--commit")).toMatchObject({ pushed: false });
  });

  test("never include a link, untracked or staged, in the first commit or a later one", async () => {
    const who = shipper(api);
    const exclude = join(who.cwd, ".git/info/exclude");
    const link = { project_id: "", account_id: "", host: "team", host_url: `${api.url}/v1` };
    who.write({ a: "1\n", "sub/.svc/link.json": JSON.stringify(link), ".svc/link.json": "{}" });
    who.git("add", "--all");
    rmSync(join(who.cwd, ".svc/link.json"));
    await who.shipped(...FIRST, "--commit", "--name", "Without links");
    expect(who.git("ls-tree", "-r", "--name-only", "HEAD")).toBe("a");
    // a link from before links were ignored
    writeFileSync(exclude, "");
    who.write({ b: "1\n" });
    who.git("add", "--all");
    expect(who.git("diff", "--cached", "--name-only").split("\n")).toContain(".svc/link.json");
    const { stderr } = await who.ship(["--commit"]);
    expect(stderr).toContain("Committing: 1 path\n  A b\n");
    expect(who.git("ls-tree", "-r", "--name-only", "HEAD")).toBe("a\nb");
    // only links are left to commit
    expect(await who.shipped("--commit")).toMatchObject({ pushed: false });
    expect(who.git("status", "--porcelain")).toBe("");
    // in the commits of another branch, a link is left as it is
    who.git("switch", "--quiet", "-c", "with-link");
    who.git("add", "--force", ".svc/link.json");
    who.git("commit", "--quiet", "--message", "link");
    who.write({ ".svc/link.json": readFileSync(join(who.cwd, ".svc/link.json"), "utf8").trim(), c: "1\n" });
    await who.shipped("--commit");
    expect(who.git("show", "--name-only", "--format=", "HEAD")).toBe("c");
  });

  test("stay uncommitted if a hook fails, and nothing is pushed or created", async () => {
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
  });
});

describe("svc.toml", () => {
  const invalid: [string, string, string[]][] = [
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
      ['svc.toml:3:14: sandbox.dockerfile names the file "Dockerfile", which is not in the repository.'],
    ],
    ["hostile", "svc_version = 2 # \\u001b\n", ["svc.toml:1:15: svc_version must be 1"]],
  ];
  test.each(sample(2, invalid))("with errors stops the run, with their lines: %s", async (_, text, says) => {
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

  test("with warnings is pushed; the pushed version is checked: the commit's, or the files' with --commit", async () => {
    const who = await begun();
    who.commit({ "svc.toml": "svc_version = 1\n[typo]\n" });
    const { code, stderr } = await who.ship();
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("warning: svc.toml:2:2: typo is not a known key"),
    ]);
    who.write({ "svc.toml": "broken" });
    expect((await who.ship()).code).toBe(0);
    expect((await who.ship(["--commit"])).stderr).toContain("svc.toml:1:1");
    expect(who.git("status", "--porcelain", "svc.toml")).toBe(" M svc.toml");
    who.commit({ "svc.toml": "broken" });
    expect((await who.ship()).stderr).toContain("svc.toml:1:1");
    who.write({ "svc.toml": "svc_version = 1\n" });
    expect(await who.shipped("--commit")).toMatchObject({ pushed: true });
  });

  test("that is not a regular file, or too large, stops the run", async () => {
    const who = shipper(api);
    Bun.spawnSync(["ln", "-s", "/etc/passwd", join(who.cwd, "svc.toml")]);
    who.git("add", "svc.toml");
    expect((await who.ship([...FIRST, "--commit"])).stderr).toContain("not a regular file");
    who.git("commit", "--quiet", "-m", "x");
    expect((await who.ship(FIRST)).stderr).toContain("not a regular file");
    rmSync(join(who.cwd, "svc.toml"));
    who.commit({ "svc.toml": "#".repeat(300_000) });
    expect((await who.ship(FIRST)).stderr).toContain("larger than");
  });
});

describe("reports the next step where it cannot push", () => {
  /** Two branches that change the same file; main is checked out. */
  const apart = (who: Shipper) => {
    who.commit({ a: "1" });
    who.git("switch", "--quiet", "-c", "other");
    who.commit({ a: "2" });
    who.git("switch", "--quiet", "main");
    who.commit({ a: "3" });
  };
  type Row = [string, (who: Shipper) => unknown, string[], number, string];
  /** What was begun is not committed half done. */
  const stopped: Row[] = [
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
      "a merge is in progress",
    ],
  ];
  const rows: Row[] = [
    ["no commits yet", () => {}, [], 1, "svc ship --commit"],
    ["no commit, and nothing to commit", () => {}, ["--commit"], 1, "no commits yet"],
    [
      "a detached HEAD",
      (who) => who.commit({ a: "1" }) && who.git("switch", "--detach"),
      [],
      1,
      "git switch -c",
    ],
    [
      "a bare repository",
      (who) => who.git("config", "core.bare", "true"),
      [],
      1,
      "This is a bare repository",
    ],
    [
      "another branch than main on the first run",
      (who) => who.commit({ a: "1" }) && who.git("switch", "--quiet", "-c", "fix"),
      [],
      1,
      "git switch main",
    ],
    ["--message without --commit", (who) => who.commit({ a: "1" }), ["-m", "x"], 2, "--commit"],
  ];
  test.each([...stopped, ...sample(2, rows)])("%s", async (_, arrange, args, code, says) => {
    const who = shipper(api);
    await arrange(who);
    const before = await projects();
    const ran = await who.ship([...FIRST, ...args]);
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([code, "", expect.stringContaining(says)]);
    expect(await projects()).toEqual(before);
  });

  test("from a shallow clone to a new repository", async () => {
    const who = shipper(api, { branch: null });
    const remote = new Remote();
    remote.commit("main", { a: "1\n" });
    remote.commit("main", { a: "2\n" });
    git(["clone", "--quiet", "--depth=1", remote.url, join(who.cwd, "clone")]);
    const { code, stderr } = await who.ship(FIRST, { cwd: join(who.cwd, "clone") });
    expect([code, stderr]).toEqual([1, expect.stringContaining("git fetch --unshallow")]);
  });

  test("without git", async () => {
    const who = shipper(api);
    const bin = join(who.home.home, "bin");
    mkdirSync(bin);
    Bun.spawnSync(["ln", "-s", process.execPath, join(bin, "bun")]);
    const { code, stderr } = await who.ship(FIRST, { env: { PATH: bin } });
    expect([code, stderr]).toEqual([1, expect.stringContaining("Install git")]);
  });

  test("without a signed-in user", async () => {
    const who = shipper(api);
    writeFileSync(who.home.config, JSON.stringify({ active: "team", hosts: { team: { url: api.url } } }));
    const { code, stderr } = await who.ship(FIRST);
    expect([code, stderr]).toEqual([1, expect.stringContaining("svc login")]);
  });
});

describe("branches", () => {
  test("other than the default are pushed under their own names, with the next step", async () => {
    const who = await begun();
    const main = who.git("rev-parse", "HEAD");
    who.git("switch", "--quiet", "-c", "fix/it");
    const tip = who.commit({ b: "2\n" });
    const ran = await who.ship();
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('svc cr open --title "…" --head fix/it');
    expect(await branchesOf(who)).toMatchObject({ main, "fix/it": tip });
    const cr = await svc(["cr", "open", "--title", "T", "--json=head_ref,base_ref"], { home: who.home });
    expect(JSON.parse(cr.stdout)).toEqual({ head_ref: "fix/it", base_ref: "main" });
  });

  test("can have any names", async () => {
    const who = await begun();
    const main = who.git("rev-parse", "HEAD");
    const before = Object.keys(await branchesOf(who));
    const taken: string[] = [];
    const names = [
      "$(touch${IFS}pwned)",
      "a;touch${IFS}pwned",
      "(detached)",
      "--mirror",
      "+main",
      "\u202eniam",
    ];
    for (const name of sample(3, names)) {
      who.git("update-ref", `refs/heads/${name}`, main);
      who.git("symbolic-ref", "HEAD", `refs/heads/${name}`);
      const { code, stdout, stderr } = await who.ship();
      expect(stdout + stderr).not.toContain("\u202e");
      if (code === 0) taken.push(name);
      else expect([name, stderr]).toEqual([name, expect.stringContaining("refused it")]);
    }
    expect(Object.keys(await branchesOf(who)).toSorted()).toEqual([...before, ...taken].toSorted());
    expect(existsSync(join(who.cwd, "pwned"))).toBe(false);
  });

  test("wait until the default branch has a commit", async () => {
    const who = shipper(api, { branch: "master" });
    who.commit({ a: "1\n" });
    const { body } = await api.call("POST", "/v1/projects", { body: { name: "Empty" } });
    await svc(["projects", "link", body.project_id], { home: who.home });
    const { code, stderr } = await who.ship();
    expect([code, stderr]).toEqual([1, expect.stringContaining("git branch -m main")]);
    who.git("branch", "-m", "main");
    expect(await who.shipped()).toMatchObject({ pushed: true, branch: "main" });
  });
});

describe("rejections", () => {
  test("by the gateway's rules, with the server's message", async () => {
    const who = shipper(api);
    who.commit({ "svc.toml": "svc_version = 1\n[change_requests]\ndirect_push = false\n" });
    await who.shipped(...FIRST);
    who.commit({ b: "2\n" });
    const plain = await who.ship();
    expect(plain).toMatchObject({ code: 1, stdout: "" });
    expect(plain.stderr).toMatch(/remote: .*svc cr open/);
    expect(plain.stderr).toMatch(
      /error: main was not pushed\. origin refused it: protected branches of this project can be changed only by change requests/,
    );
    const json = await who.ship(["--json"]);
    expect(json).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(json.stderr).error).toEqual({
      code: "push_rejected",
      message: expect.stringContaining("svc cr open"),
    });
    who.git("switch", "--quiet", "-c", "fix");
    expect(await who.shipped()).toMatchObject({ branch: "fix", pushed: true });
  });

  test("of a clone that is behind: finds the project by the gateway's address, and works after a pull", async () => {
    const who = await begun();
    const { project_id } = await who.shipped();
    const other = shipper(api);
    other.git("remote", "add", "upstream", gateway(project_id));
    other.git("config", "credential.helper", `!f() { echo username=x; echo password=${api.token}; }; f`);
    await other.asks("pull", "upstream", "main");
    other.commit({ theirs: "1\n" });
    expect(await other.shipped()).toMatchObject({
      project_id,
      created: false,
      pushed: true,
      remote: "upstream",
    });
    expect(JSON.parse(readFileSync(join(other.cwd, ".svc/link.json"), "utf8")).project_id).toBe(project_id);
    who.commit({ ours: "1\n" });
    const { code, stderr } = await who.ship();
    expect([code, stderr.match(/hint:/g)?.length]).toEqual([1, 1]);
    expect(stderr).toContain("`git pull --rebase origin main`");
    expect(JSON.parse((await who.ship(["--json"])).stderr).error.code).toBe("not_fast_forward");
    expect(await who.asks("pull", "--quiet", "--rebase", "origin", "main")).toMatchObject({ code: 0 });
    expect(await who.shipped()).toMatchObject({ pushed: true });
  });

  test("of a revoked token", async () => {
    const who = await begun();
    const config = readFileSync(who.home.config, "utf8");
    writeFileSync(who.home.config, config.replace(api.token, `${"svc_pat_"}${"x".repeat(43)}`));
    const { code, stderr } = await who.ship();
    writeFileSync(who.home.config, config);
    expect([code, stderr]).toEqual([1, expect.stringContaining("svc login")]);
  });
});

describe("existing projects", () => {
  test("on another git host are pushed to their origin, without any setup", async () => {
    const who = shipper(api);
    const remote = new Remote();
    remote.commit("main", { a: "1\n" });
    const { project_id } = await api.project(remote.url, { name: "External" });
    git(["-C", who.cwd, "remote", "add", "origin", remote.url]);
    git(["-C", who.cwd, "pull", "--quiet", "origin", "main"]);
    const config = readFileSync(join(who.cwd, ".git/config"), "utf8");
    const tip = who.commit({ b: "2\n" });
    expect(await who.shipped("--dry-run")).toMatchObject({ pushed: true, remote_url: remote.url });
    expect(await who.shipped()).toMatchObject({ project_id, created: false, pushed: true, remote: "origin" });
    // found by its repository, and linked for later
    const link = JSON.parse(readFileSync(join(who.cwd, ".svc/link.json"), "utf8"));
    expect(link.project_id).toBe(project_id);
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
  });

  test("the remote follows a host's new address; a link to a deleted project reports the next step", async () => {
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

    await api.call("DELETE", `/v1/projects/${project_id}`);
    expect((await who.ship()).stderr).toContain("svc projects unlink");
    await svc(["projects", "unlink"], { home: who.home });
    who.git("remote", "remove", "origin");
    expect(await who.shipped(...FIRST)).toMatchObject({ created: true, pushed: true });
  });

  test("can be used with environment variables only", async () => {
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

  test("in a sandbox use the existing remote and credential", async () => {
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

describe("interruption", () => {
  const pidOf = (who: Shipper) => join(who.home.home, "hook.pid");
  /** Somebody whose push waits in a hook, which outlives git and holds its standard output. */
  const waiting = async () => {
    const who = await begun();
    rmSync(pidOf(who), { force: true });
    who.commit({ waits: crypto.randomUUID() });
    who.hook("pre-push", `echo $$ > ${pidOf(who)}; exec sleep 600 2>/dev/null`);
    return who;
  };
  const untilWaiting = async (who: Shipper) => {
    const pid = () => (existsSync(pidOf(who)) ? readFileSync(pidOf(who), "utf8") : "");
    await until("the hook waits", () => pid().endsWith("\n"));
    return Number(pid());
  };
  const untilGone = (pid: number) => until("the hook is gone", () => !existsSync(`/proc/${pid}`));

  test("Ctrl-C on a terminal ends git and svc by the signal", async () => {
    const who = await waiting();
    const terminal = who.onTerminal();
    await untilWaiting(who);
    terminal.type("\x03");
    expect(await terminal.exited).toEqual({ code: null, signal: "SIGINT" });
    expect(await (await begun()).shipped()).toMatchObject({ created: false, pushed: true });
  });

  test("--timeout ends svc, git and its helpers", async () => {
    const who = await waiting();
    // Long enough for the server's answers, which it holds for too, on a busy machine.
    const { code, stderr } = await who.ship(["--timeout", "5"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("git push was stopped after 5 seconds")]);
    await untilGone(await untilWaiting(who));
  });

  test.each(sample(1, ["SIGINT", "SIGTERM", "SIGHUP"] as const))(
    "%s sent only to svc ends all processes, by the signal",
    async (signal) => {
      const who = await waiting();
      const child = spawnSvc(["ship"], { home: who.home });
      const hook = await untilWaiting(who);
      child.kill(signal);
      // Until the last of them has closed it.
      await textOf(child.stderr);
      await child.exited;
      expect(child.signalCode).toBe(signal);
      await untilGone(hook);
    },
  );
});

describe("on a terminal", () => {
  const plain = (screen: string) => Bun.stripANSI(screen).replaceAll("\r\n", "\n");

  test("prompts before it creates a repository and a project, and shows git's progress", async () => {
    const who = shipper(api, { branch: null });
    who.write(Object.fromEntries([...Array(50)].map((_, n) => [`f${n}`, `${n}\n`])));
    const terminal = who.onTerminal("--commit", "--name", "Asked");
    await terminal.shows("is not in a git repository. Create one here?");
    terminal.type("y");
    await terminal.shows("Create the project Asked on team, and push main to it?");
    terminal.type("y");
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    const screen = plain(terminal.screen());
    expect(screen).toContain("and 40 more");
    expect(screen).toContain("Created the project Asked (asked).");
    expect(screen).toMatch(/Writing objects: 100% \(5\d\/5\d\)/);
    expect(screen).toContain("Pushed main (");
  });

  test("prompts for one of several accounts, unless --account is given", async () => {
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
    await terminal.shows("Create the project B");
    terminal.type("y");
    await terminal.exited;
    expect(made()).toEqual({ name: "B", default_branch: "main", account_id: other });
    fake.stop();
  });

  test("creates nothing if the answer is no", async () => {
    const who = shipper(api);
    who.commit({ a: "1\n" });
    const terminal = who.onTerminal("--name", "Declined");
    await terminal.shows("Create the project Declined");
    terminal.type("n");
    expect(await terminal.exited).toEqual({ code: 1, signal: null });
    expect((await projects()).filter(({ name }) => name === "Declined")).toHaveLength(0);
    expect(existsSync(join(who.cwd, ".svc"))).toBe(false);
  });
});

test("deploy is the same command", async () => {
  const ran = await svc(["deploy", "--json=created"], { home: (await begun()).home });
  expect([ran.code, ran.stdout]).toEqual([0, '{"created":false}\n']);
});
