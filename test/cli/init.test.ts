import { describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../../cli/run.ts";
import { readManifest } from "../../src/contract/manifest/manifest.ts";
import { cliEnv, fakeSystem, makeHome, SVC, svc, svcOnTerminal, textOf } from "../helpers/cli-run.ts";
import { needs } from "../helpers/needs.ts";
import { git } from "../helpers/remote.ts";

const PROJECT = [
  "svc.toml",
  ".svc/.gitignore",
  ".svc/Dockerfile",
  ".svc/agentrt/opencode.json",
  ".svc/agentrt/agents/developer.md",
  ".svc/agentrt/skills/svc/SKILL.md",
  ".svc/agentrt/tools/preview.ts",
];
/** Programs without any coding agent among them. */
const PATH = dirname(Bun.which("git") ?? "/usr/bin/git");

const init = (home: ReturnType<typeof makeHome>, ...args: string[]) =>
  svc(["init", ...args], { home, env: { PATH } });

/** Every file, folder and link below a folder, with what it holds. */
function treeOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const says = entry.isFile() ? readFileSync(path, "utf8") : entry.isSymbolicLink() ? "link" : "folder";
      return [path.slice(folder.length + 1), says];
    }),
  );
}

const filesOf = (folder: string): string[] =>
  Object.entries(treeOf(folder)).flatMap(([path, says]) => (says === "folder" ? [] : [path]));

function write(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

describe("svc init", () => {
  test("writes and lists the files of a project, and a second run changes nothing", async () => {
    const home = makeHome();
    const first = await init(home);
    expect(first).toMatchObject({ code: 0, stdout: PROJECT.map((path) => `wrote\t${path}\t\n`).join("") });
    expect(filesOf(home.cwd).toSorted()).toEqual(PROJECT.toSorted());
    expect(first.stderr).toContain("No coding agent was found");
    const before = treeOf(home.cwd);
    const times = PROJECT.map((path) => lstatSync(join(home.cwd, path)).mtimeMs);
    const second = await init(home, "--force", "--json");
    const { files, ...rest } = JSON.parse(second.stdout);
    expect(rest).toEqual({ root: home.cwd, agents: [], found: [], setup: null, dry_run: false });
    expect(files).toEqual(PROJECT.map((path) => ({ path, action: "unchanged", for: [], why: null })));
    expect(treeOf(home.cwd)).toEqual(before);
    expect(PROJECT.map((path) => lstatSync(join(home.cwd, path)).mtimeMs)).toEqual(times);
    expect(existsSync(join(home.cwd, ".svc/link.json"))).toBe(false);
  });

  test("writes a valid manifest with the folder's name, also with its commented lines", async () => {
    const home = makeHome();
    const folder = join(home.cwd, 'A "fine" shop\\1');
    mkdirSync(folder);
    await svc(["init"], { home, cwd: folder, env: { PATH } });
    const text = readFileSync(join(folder, "svc.toml"), "utf8");
    const { manifest, errors } = readManifest(text);
    expect([manifest?.project.name, errors]).toEqual(['A "fine" shop\\1', []]);
    const { manifest: whole, errors: more } = readManifest(text.replace(/^# (\[|[a-z_]+ = )/gm, "$1"));
    expect([whole?.sandbox.cpu, whole?.changeRequests.requiredApprovals, more]).toEqual([2, 1, []]);
    expect(whole?.triggers).toMatchObject([{ slug: "update-dependencies", agent: "developer" }]);
  });

  test("writes svc's default Dockerfile, without the parts for the network policy", () => {
    const read = (path: string) => readFileSync(join(import.meta.dir, "../..", path), "utf8");
    const facts = (text: string) => ({
      base: /^FROM (.*)$/m.exec(text)?.[1],
      packages: /^ARG PACKAGES="(.*)"$/m
        .exec(text)?.[1]
        ?.split(" ")
        .filter((name) => name !== "nftables"),
      run: /^RUN dpkg[\s\S]*?; \}$/m.exec(text)?.[0],
    });
    const own = facts(read("cli/commands/init/project.dockerfile"));
    expect(own).toEqual(facts(read("src/sandboxes/docker/images/default.dockerfile")));
    expect(own.run).toBeDefined();
  });

  test("its next steps commit all written files, also from a subfolder", async () => {
    const home = makeHome();
    mkdirSync(join(home.home, ".claude"));
    mkdirSync(join(home.cwd, "sub/deep"), { recursive: true });
    writeFileSync(join(home.home, ".gitconfig"), "[user]\nname = A\nemail = a@example.com\n");
    git(["-C", home.cwd, "init", "--quiet", "-b", "main"]);
    for (const [cwd, says] of [
      [join(home.cwd, "sub/deep"), `This folder is in the repository ${home.cwd}`],
      [home.cwd, "Everything is up to date"],
    ] as const) {
      const ran = await svc(["init"], { home, cwd, env: { PATH } });
      expect(ran.stderr).toContain(says);
      const steps = ran.stderr.split("\n").filter((line) => line.startsWith("  git "));
      for (const step of steps) {
        const child = Bun.spawn(["sh", "-ec", step], { cwd, env: cliEnv(home.home), stdout: "ignore" });
        expect(await child.exited).toBe(0);
      }
    }
    expect(git(["-C", home.cwd, "status", "--porcelain"])).toBe("");
    expect(git(["-C", home.cwd, "ls-files"]).split("\n").filter(Boolean).toSorted()).toEqual(
      [".claude/skills/svc/SKILL.md", ...PROJECT].toSorted(),
    );
    expect(existsSync(join(home.cwd, "sub/deep/svc.toml"))).toBe(false);
  });

  test.each<[string, string[], string[], Record<string, string[]>]>([
    ["Claude Code by its folder", [".claude"], [], { ".claude": ["Claude Code"] }],
    ["Codex by its folder", [".codex"], [], { ".agents": ["Codex"] }],
    ["Cursor by its folder", [".cursor"], [], { ".agents": ["Cursor"] }],
    ["opencode by its folder", [".config/opencode"], [], { ".agents": ["opencode"] }],
    [
      "programs on the PATH",
      [],
      ["claude", "opencode"],
      { ".claude": ["Claude Code"], ".agents": ["opencode"] },
    ],
    [
      "all, by either",
      [".claude", ".codex"],
      ["cursor-agent", "opencode"],
      { ".claude": ["Claude Code"], ".agents": ["Codex", "Cursor", "opencode"] },
    ],
  ])("finds %s, and writes the skill where each reads skills", async (_, folders, programs, wanted) => {
    const home = makeHome();
    const bin = join(home.home, "bin");
    for (const folder of [...folders, "bin"]) mkdirSync(join(home.home, folder), { recursive: true });
    for (const program of programs) writeFileSync(join(bin, program), "#!/bin/sh\n", { mode: 0o755 });
    const ran = await svc(["init", "--json"], { home, env: { PATH: `${bin}:${PATH}` } });
    const files: { path: string; for: string[] }[] = JSON.parse(ran.stdout).files;
    const skills = files.filter((file) => file.for.length > 0);
    expect(Object.fromEntries(skills.map((file) => [file.path.split("/")[0], file.for]))).toEqual(wanted);
    const skill = readFileSync(join(home.cwd, ".svc/agentrt/skills/svc/SKILL.md"), "utf8");
    expect(skill.match(/^\d\. /gm)).toHaveLength(8);
    for (const { path } of skills) {
      expect(path).toEndWith("/skills/svc/SKILL.md");
      expect(readFileSync(join(home.cwd, path), "utf8")).toBe(skill);
    }
  });

  test("--mcp lets the coding agents on this machine start svc mcp, and changes no file of theirs", async () => {
    const home = makeHome();
    for (const folder of [".claude", ".cursor", ".codex"]) mkdirSync(join(home.home, folder));
    const run = async (...flags: string[]) => {
      const ran = await svc(["init", "--json", ...flags], { home, env: { PATH } });
      const files: { path: string; action: string; for: string[] }[] = JSON.parse(ran.stdout).files;
      return files.filter(({ path }) => path.endsWith("mcp.json"));
    };
    expect(await run()).toEqual([]);
    mkdirSync(join(home.cwd, ".cursor"));
    const theirs = '{"mcpServers":{"other":{"command":"other"}}}';
    writeFileSync(join(home.cwd, ".cursor/mcp.json"), theirs);
    expect(await run("--mcp", "--force")).toMatchObject([
      { path: ".mcp.json", action: "wrote", for: ["Claude Code"] },
      { path: ".cursor/mcp.json", action: "kept", for: ["Cursor"] },
    ]);
    expect(JSON.parse(readFileSync(join(home.cwd, ".mcp.json"), "utf8"))).toEqual({
      mcpServers: { svc: { command: "svc", args: ["mcp"] } },
    });
    expect(readFileSync(join(home.cwd, ".cursor/mcp.json"), "utf8")).toBe(theirs);
    expect(await run("--mcp")).toMatchObject([{ action: "unchanged" }, { action: "kept" }]);
  });

  test("without a terminal, replaces a different file only with --force", async () => {
    const home = makeHome();
    const theirs = { "svc.toml": "svc_version = 1\n", ".svc/Dockerfile": "FROM scratch\n" };
    write(home.cwd, theirs);
    for (const flags of [[], ["--yes"], ["--dry-run"], ["--dry-run", "--force"]]) {
      const ran = await init(home, ...flags);
      expect(ran.code).toBe(0);
      for (const [path, text] of Object.entries(theirs))
        expect(readFileSync(join(home.cwd, path), "utf8")).toBe(text);
    }
    expect((await init(home)).stdout).toContain("kept\tsvc.toml\tit exists and differs\n");
    expect((await init(home, "--force")).stdout).toStartWith("replaced\tsvc.toml\t\n");
    expect(filesOf(home.cwd).toSorted()).toEqual(PROJECT.toSorted());
    expect((await init(home)).stdout).not.toContain("kept");
  });

  test("ignores differences of line endings", async () => {
    const home = makeHome();
    await init(home);
    const file = join(home.cwd, "svc.toml");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("\n", "\r\n"));
    expect((await init(home)).stdout).toContain("unchanged\tsvc.toml");
  });

  test("uses the folders that the manifest names, also when it replaces the manifest", async () => {
    const home = makeHome();
    write(home.cwd, {
      "svc.toml":
        'svc_version = 1\n[opencode]\nconfig_dir = "tools/agent"\n[sandbox]\ndockerfile = "ci/Dockerfile"\n',
    });
    await init(home);
    const wanted = PROJECT.map((path) =>
      path.replace(".svc/agentrt", "tools/agent").replace(".svc/Dockerfile", "ci/Dockerfile"),
    );
    expect(filesOf(home.cwd).toSorted()).toEqual(wanted.toSorted());
    await init(home, "--force");
    expect(filesOf(home.cwd).toSorted()).toEqual(wanted.toSorted());
    const { manifest } = readManifest(readFileSync(join(home.cwd, "svc.toml"), "utf8"));
    expect(manifest).toMatchObject({
      opencode: { configDir: "tools/agent" },
      sandbox: { dockerfile: "ci/Dockerfile", context: "ci" },
    });
  });

  test.each([
    ["y", "replaced"],
    ["n", "kept"],
  ])("on a terminal, shows the changes and prompts: %s", async (key, action) => {
    const home = makeHome();
    write(home.cwd, { "svc.toml": 'svc_version = 1\nhostile = "\u001b]0;x\u0007"\n' });
    const ran = svcOnTerminal(["init"], { home, env: { PATH } });
    await ran.shows("Replace it?");
    expect(ran.screen()).toContain('-hostile = "\\x1b]0;x\\x07"');
    expect(ran.screen()).toContain("+[project]");
    ran.type(key);
    expect(await ran.exited).toMatchObject({ code: 0 });
    expect(ran.screen()).toContain(action);
    expect(readFileSync(join(home.cwd, "svc.toml"), "utf8").includes("hostile")).toBe(action === "kept");
  });

  test.each([
    ["y", true],
    ["n", false],
  ])("on a terminal, offers svc's tools to the coding agents once: %s", async (key, isAdded) => {
    const home = makeHome();
    mkdirSync(join(home.home, ".claude"));
    const ran = svcOnTerminal(["init"], { home, env: { PATH } });
    await ran.shows("Let Claude Code start sessions");
    ran.type(key);
    expect(await ran.exited).toMatchObject({ code: 0 });
    expect(existsSync(join(home.cwd, ".mcp.json"))).toBe(isAdded);
    if (!isAdded) return;
    const again = svcOnTerminal(["init"], { home, env: { PATH } });
    expect(await again.exited).toMatchObject({ code: 0 });
    expect(again.screen()).not.toContain("Let Claude Code");
  });

  test("Escape at a prompt changes nothing", async () => {
    const home = makeHome();
    write(home.cwd, { "svc.toml": "svc_version = 1\n" });
    const ran = svcOnTerminal(["init"], { home, env: { PATH } });
    await ran.shows("Replace it?");
    ran.type("\u001b");
    expect(await ran.exited).toMatchObject({ code: 1 });
    expect(filesOf(home.cwd)).toEqual(["svc.toml"]);
  });

  const OUT = "/the-outside";
  test.each<[string, (cwd: string, outside: string) => void, string]>([
    [
      "a folder that leads out",
      (cwd, outside) => symlinkSync(outside, join(cwd, ".svc")),
      "is a symbolic link out of",
    ],
    ["a link that leads nowhere", (cwd) => symlinkSync(OUT, join(cwd, ".svc")), "is a broken symbolic link"],
    [
      "a file that leads out",
      (cwd, outside) => symlinkSync(join(outside, "x"), join(cwd, "svc.toml")),
      "symbolic link",
    ],
    ["a file in a folder's place", (cwd) => writeFileSync(join(cwd, ".svc"), "x"), ".svc is not a folder"],
    [
      "a folder in a file's place",
      (cwd) => mkdirSync(join(cwd, ".svc/Dockerfile"), { recursive: true }),
      "is not a regular file",
    ],
    [
      "a pipe in a file's place",
      (cwd) => Bun.spawnSync(["mkfifo", join(cwd, "svc.toml")]),
      "is not a regular file",
    ],
  ])("%s: writes nothing, and the error says what to move", async (_, prepare, words) => {
    const home = makeHome();
    const outside = join(home.home, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "x"), "theirs");
    prepare(home.cwd, outside);
    const before = Bun.spawnSync(["ls", "-lAR", home.cwd, outside]).stdout.toString();
    for (const flags of [[], ["--force"]]) {
      const ran = await init(home, ...flags, "--json");
      expect([ran.code, ran.stdout]).toEqual([1, ""]);
      expect(JSON.parse(ran.stderr).error).toMatchObject({
        code: "file",
        message: expect.stringContaining(words),
      });
    }
    expect(Bun.spawnSync(["ls", "-lAR", home.cwd, outside]).stdout.toString()).toBe(before);
  });

  test("reports what blocks a coding agent's skill, and writes the rest", async () => {
    const home = makeHome();
    const outside = join(home.home, ".claude");
    mkdirSync(outside);
    symlinkSync(outside, join(home.cwd, ".claude"));
    const ran = await init(home);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("skipped\t.claude/skills/svc/SKILL.md\t.claude is a symbolic link out of");
    expect(readdirSync(outside)).toEqual([]);
    expect(existsSync(join(home.cwd, "svc.toml"))).toBe(true);
  });

  test("follows a link within the repository, and writes a file with two paths once", async () => {
    const home = makeHome();
    for (const folder of [".claude", ".codex"]) mkdirSync(join(home.home, folder));
    mkdirSync(join(home.cwd, ".agents"));
    symlinkSync(".agents", join(home.cwd, ".claude"));
    const ran = await init(home);
    expect(ran.stdout).toContain("wrote\t.claude/skills/svc/SKILL.md");
    expect(ran.stdout).toContain("unchanged\t.agents/skills/svc/SKILL.md");
    expect(lstatSync(join(home.cwd, ".claude")).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(home.cwd, ".agents/skills"))).toEqual(["svc"]);
  });

  const isRoot = process.getuid?.() === 0;
  const inNamespace = (script: string, ...args: string[]) => [
    "unshare",
    ...(isRoot ? [] : ["--map-root-user"]),
    "--mount",
    "--net",
    "sh",
    "-ec",
    script,
    "sh",
    ...args,
  ];
  const canMount = Bun.spawnSync(inNamespace("mount -t tmpfs none /mnt")).success;
  const apart = needs("mount and network namespaces (unshare)", canMount);

  apart.each<[string, string, number, string]>([
    ["without any network", 'cd "$1"', 0, ""],
    [
      "on a full disk",
      'mount -t tmpfs -o size=16k none "$1"; cd "$1"; head -c 8000 /dev/zero >full',
      1,
      "the disk is full",
    ],
    [
      "on a read-only file system",
      'mount -t tmpfs none "$1"; cd "$1"; mount -o remount,ro "$1"',
      1,
      "read-only",
    ],
  ])("%s", async (_, script, code, words) => {
    const home = makeHome();
    const command = `${script}; shift; code=0; "$@" || code=$?; ls -A "$PWD" >&2; exit $code`;
    const child = Bun.spawn(inNamespace(command, home.cwd, ...SVC, "init", "--json"), {
      env: { ...cliEnv(home.home), PATH: `${PATH}:/bin:/usr/sbin:/sbin` },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    expect(await child.exited).toBe(code);
    if (code === 0) expect(JSON.parse(out).files).toHaveLength(PROJECT.length);
    else {
      const [error = "", ...left] = err.trim().split("\n");
      expect(JSON.parse(error).error).toMatchObject({
        code: "file",
        message: expect.stringContaining(words),
      });
      expect(left).toEqual(words === "read-only" ? [] : ["full"]);
    }
  });

  test("sends no request", async () => {
    const home = makeHome();
    const system = fakeSystem({
      env: { HOME: home.home, PATH, SVC_API_URL: "http://127.0.0.1:9/v1", SVC_CLI_TOKEN: "svc_pat_x" },
      cwd: home.cwd,
      fetch: () => Promise.reject(new Error("svc init has asked a server")),
    });
    expect([await run(system, ["init"]), await run(system, ["my-shop", "--dry-run"])]).toEqual([0, 0]);
  });
});
