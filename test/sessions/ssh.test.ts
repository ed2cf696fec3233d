import { afterAll, beforeAll, describe, expect } from "bun:test";
import { createCipheriv } from "node:crypto";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "../../scripts/free-port.ts";
import { cliEnv, makeHome, SVC, svcProcess } from "../helpers/cli-run.ts";
import { needs, succeeds } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type Proxied, startProxied } from "../helpers/proxied.ts";
import { SEED } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

const HAS_SSH = POSTGRES && succeeds("ssh", "-V");
const test = needs("a real Postgres and OpenSSH's client", HAS_SSH);
const rsyncTest = needs("rsync", HAS_SSH && succeeds("rsync", "--version"));
const home = makeHome();
const env = cliEnv(home.home);
let proxied: Proxied;
/** The session's name for ssh, and the user's configuration of ssh. */
let name: string;
const userConfig = join(home.home, ".ssh/config");
/** Bytes of a file that is more than any part between its ends keeps. */
const SIZE = 8_000_000;
const OWN_TEXT = "# mine\nHost other\n  User me\n";

beforeAll(async () => {
  if (!HAS_SSH) return;
  proxied = await startProxied();
  const { api } = proxied.bench;
  mkdirSync(join(home.home, ".config/svc"), { recursive: true });
  const hosts = { here: { url: `${api.url}/v1`, token: api.token } };
  writeFileSync(home.config, JSON.stringify({ active: "here", hosts }), { mode: 0o600 });
  mkdirSync(join(home.home, ".ssh"));
  writeFileSync(join(home.home, "dotfile"), OWN_TEXT, { mode: 0o640 });
  symlinkSync("../dotfile", userConfig);
  const written = await svc(["sessions", "ssh-config", "--write"]);
  name = /Connect with: ssh (\S+)/.exec(written.stderr)?.[1] ?? "";
  expect(name).toMatch(new RegExp(`^${proxied.session.id.slice(0, 8)}\\.[a-z0-9-]+\\.svc$`));
});
afterAll(() => proxied?.stop());

const svc = (args: string[]) =>
  svcProcess(["--project", proxied.bench.hosted.project.project_id, ...args], { home });

/** One connection for all programs, unless `options` say otherwise. */
const SHARED = ["-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o", `ControlPath=${home.home}/c-%C`];

async function run(command: string[], stdin: string | Uint8Array = "") {
  const child = Bun.spawn(command, {
    env,
    cwd: home.cwd,
    stdin: Buffer.from(stdin as string),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}
/** With a connection of its own. */
const sshAlone = (args: string[], config = userConfig) => run(["ssh", "-F", config, ...args]);
const ssh = (args: string[], stdin: string | Uint8Array = "") =>
  run(["ssh", "-F", userConfig, ...SHARED, ...args], stdin);

describe("ssh-config", () => {
  test("adds one line to the user's file, once, and leaves the rest alone", async () => {
    await svc(["sessions", "ssh-config", "--write"]);
    const folder = join(home.home, ".config/svc/ssh");
    expect(readFileSync(join(home.home, "dotfile"), "utf8")).toBe(
      `Include "${folder}/hosts/*.conf"\n\n${OWN_TEXT}`,
    );
    expect(statSync(userConfig).mode & 0o777).toBe(0o640);
    for (const secret of ["seed", "id_ed25519"])
      expect(statSync(join(folder, secret)).mode & 0o777).toBe(0o600);
    const printed = await svc(["sessions", "ssh-config"]);
    expect(printed.stdout).toContain(`Host ${name} *.`);
    expect(readFileSync(join(folder, `hosts/${proxied.bench.hosted.project.project_id}.conf`), "utf8")).toBe(
      printed.stdout,
    );
  });
});

describe("OpenSSH", () => {
  test.each<[what: string, command: string, input: string, stdout: string, code: number]>([
    ["prints", "echo out; echo problem >&2", "", "out\n", 0],
    ["reads its input to the end", "cat", "one\ntwo", "one\ntwo", 0],
    ["has an exit status", "exit 7", "", "", 7],
    ["is ended by a signal", "kill -9 $$", "", "", 255],
    ["leaves a process behind", "sleep 300 & echo begun", "", "begun\n", 0],
  ])("runs a command that %s", async (_, command, input, stdout, code) => {
    const ran = await ssh([name, command], input);
    expect([ran.code, ran.stdout]).toEqual([code, stdout]);
  });

  test("runs programs in the workspace with the agent's variables, and no agent of the client", async () => {
    const script = 'pwd; env; echo "agent=$SSH_AUTH_SOCK"; echo problem >&2';
    const { stdout, stderr } = await sshAlone(["-A", "-o", "SetEnv=GREETING=hello", name, script]);
    expect(stdout.split("\n")[0]).toBe(proxied.sandbox.workspace);
    for (const line of [`SVC_SESSION_ID=${proxied.session.id}`, "GREETING=hello", "agent="])
      expect(stdout).toContain(`${line}\n`);
    expect(stdout).not.toContain("SVC_TOKEN=");
    expect(stderr).toContain("problem\n");
  });

  test("reads commands from its input in a shell without a terminal", async () => {
    expect(await ssh([name], "echo $((40 + 2))\nexit 3\n")).toMatchObject({ code: 3, stdout: "42\n" });
  });

  test("has a terminal of its size, which changes, and job control", async () => {
    let shown = "";
    const terminal = {
      cols: 93,
      rows: 31,
      data(_: unknown, bytes: Uint8Array) {
        shown += Buffer.from(bytes).toString();
      },
    };
    const args = [
      "--project",
      proxied.bench.hosted.project.project_id,
      "sessions",
      "ssh",
      proxied.session.id,
    ];
    const child = Bun.spawn([...SVC, ...args], { env, cwd: home.cwd, terminal });
    const type = (line: string) => child.terminal?.write(`${line}\r`);
    type("stty size");
    await until("it shows its size", () => shown.includes("31 93"));
    child.terminal?.resize(40, 12);
    await until("it shows its new size", async () => {
      type("stty size");
      return shown.includes("12 40");
    });
    type("echo be''gun; sleep 300");
    await until("it sleeps", () => shown.includes("begun"));
    child.terminal?.write("\x03");
    type("echo interrupted $?");
    await until("it was interrupted", () => shown.includes("interrupted 130"));
    type("exit 5");
    expect(await child.exited).toBe(5);
  });

  test("shows the end of a terminal's output that is faster than the connection", async () => {
    const { stdout } = await ssh(["-tt", name, "yes | head -c 6000000; echo the end"]);
    expect(stdout.slice(-20)).toEndWith("the end\r\n");
  });
});

describe("files", () => {
  /** Bytes that look random: the key stream of a cipher, of this run's seed. */
  const content = createCipheriv("aes-128-ctr", Buffer.alloc(16, String(SEED)), Buffer.alloc(16)).update(
    Buffer.alloc(SIZE),
  );
  const here = (...parts: string[]) => join(home.cwd, ...parts);

  test("go both ways by sftp, which renames, links, lists and removes them", async () => {
    writeFileSync(here("big"), content, { mode: 0o755 });
    writeFileSync(here("small"), "1");
    const batch = [
      ...[
        "mkdir kept",
        "put -p big kept/a",
        "rename kept/a kept/b",
        "ln -s b kept/l",
        "ls -l kept",
        "get kept/l back",
      ],
      ...[
        "-rename kept/b kept/l",
        "chmod 600 kept/b",
        "mkdir gone",
        "put small gone/x",
        "rm gone/x",
        "rmdir gone",
      ],
      ...["-get none", "ls -l kept", "pwd"],
    ];
    const { code, stdout, stderr } = await run(
      ["sftp", "-F", userConfig, ...SHARED, "-b", "-", name],
      batch.join("\n"),
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining("none")]);
    const { workspace } = proxied.sandbox;
    expect(readFileSync(join(workspace, "kept/b")).equals(content)).toBe(true);
    expect(readFileSync(here("back")).equals(content)).toBe(true);
    expect(stdout).toMatch(new RegExp(`-rwxr-xr-x .* ${SIZE} .* b\n`));
    expect(stdout).toMatch(/l[rwx]{9} .* l\n/);
    expect(stdout).toMatch(new RegExp(`-rw------- .* ${SIZE} .* b\n`));
    expect(stdout).toContain(workspace);
    expect(stderr).toContain("remote rename");
    expect(() => statSync(join(workspace, "gone"))).toThrow("ENOENT");
  });

  test("and folders go both ways by scp", async () => {
    mkdirSync(here("tree/deep"), { recursive: true });
    writeFileSync(here("tree/deep/file"), "x".repeat(100_000));
    for (let at = 0; at < 150; at++) writeFileSync(here(`tree/${at}`), String(at), { mode: 0o600 });
    const scp = (...args: string[]) => run(["scp", "-F", userConfig, ...SHARED, "-rp", ...args]);
    expect((await scp("tree", `${name}:copied`)).code).toBe(0);
    expect((await scp(`${name}:copied`, "again")).code).toBe(0);
    expect((await run(["diff", "-r", "tree", "again"])).code).toBe(0);
    expect(statSync(join(proxied.sandbox.workspace, "copied/7")).mode & 0o777).toBe(0o600);
  });

  rsyncTest("go by rsync", async () => {
    writeFileSync(here("sent"), content);
    const rsync = (from: string, to: string) => run(["rsync", "-e", `ssh -F ${userConfig}`, "-a", from, to]);
    expect((await rsync("sent", `${name}:synced`)).code).toBe(0);
    expect((await rsync(`${name}:synced`, "got")).code).toBe(0);
    expect(readFileSync(here("got")).equals(content)).toBe(true);
  });
});

describe("a forwarded port", () => {
  test("leads to the sandbox's own loopback only", async () => {
    const port = freePort();
    const forward = ["-o", "ExitOnForwardFailure=yes", "-N", "-L", `${port}:localhost:${proxied.port}`];
    const child = Bun.spawn(["ssh", "-F", userConfig, ...forward, name], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    await until("it listens", async () => {
      const socket = connect(port, "127.0.0.1");
      const { promise, resolve } = Promise.withResolvers<boolean>();
      socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
      return promise.finally(() => socket.destroy());
    });
    const response = await fetch(`http://127.0.0.1:${port}/some/path`);
    expect([response.status, await response.text()]).toEqual([404, "no such path"]);
    child.kill();
    await child.exited;
    for (const elsewhere of ["10.0.0.1:80", "169.254.169.254:80", "example.invalid:80"]) {
      const refused = await ssh(["-W", elsewhere, name]);
      expect([refused.code, refused.stderr]).toEqual([
        255,
        expect.stringMatching(/open failed|refused by peer/),
      ]);
    }
    const remote = await sshAlone(["-o", "ExitOnForwardFailure=yes", "-R", "0:localhost:1", name, "true"]);
    expect([remote.code, remote.stderr]).toEqual([
      255,
      expect.stringContaining("remote port forwarding failed"),
    ]);
  });
});

describe("access", () => {
  /** The configuration with one line changed. */
  const changed = (from: RegExp, to: string) => {
    const own = join(home.home, `.config/svc/ssh/hosts/${proxied.bench.hosted.project.project_id}.conf`);
    const path = join(home.cwd, "changed.conf");
    const text = readFileSync(own, "utf8");
    expect(text).toMatch(from);
    writeFileSync(path, text.replace(from, to));
    return path;
  };

  test("has only the key of the person who connects", async () => {
    const other = join(home.cwd, "other");
    await run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other]);
    const denied = await sshAlone([name, "true"], changed(/IdentityFile .*/, `IdentityFile ${other}`));
    expect([denied.code, denied.stderr]).toEqual([
      255,
      expect.stringContaining("Permission denied (publickey)"),
    ]);
  });

  test("has only the server whose key svc has made", async () => {
    const hosts = join(home.cwd, "no-hosts");
    writeFileSync(hosts, "");
    const unknown = await sshAlone(
      [name, "true"],
      changed(/UserKnownHostsFile .*/, `UserKnownHostsFile ${hosts}`),
    );
    expect([unknown.code, unknown.stderr]).toEqual([
      255,
      expect.stringContaining("Host key verification failed"),
    ]);
  });

  test("has no session of another account, and no agent", async () => {
    const { bench, session } = proxied;
    const stranger = await bench.api.mint("ssh-stranger@example.com");
    const project = bench.hosted.project.project_id;
    for (const [token, why] of [
      [stranger, "not a member"],
      [session.token, "403"],
    ] as const) {
      const environment = { SVC_API_URL: `${bench.api.url}/v1`, SVC_CLI_TOKEN: token };
      const ran = await svcProcess(["--project", project, "sessions", "ssh", "--stdio", session.id], {
        env: environment,
      });
      expect([why, ran.code, ran.stdout]).toEqual([why, 1, ""]);
    }
    const body = { command: ["svc-agent", "ssh-server"] };
    const path = `/v1/projects/${project}/sessions/${session.id}/exec`;
    expect((await bench.api.call("POST", path, { token: session.token, body })).status).toBe(403);
  });

  test("is recorded, and nothing is left when ssh has ended", async () => {
    const child = Bun.spawn(["ssh", "-F", userConfig, name, "echo $$ > shell-pid; sleep 300"], {
      env,
      stdio: ["ignore", "ignore", "ignore"],
    });
    const pid = join(proxied.sandbox.workspace, "shell-pid");
    await until("it runs", () => (statSync(pid, { throwIfNoEntry: false })?.size ?? 0) > 0);
    child.kill("SIGKILL");
    await until(
      "its program has ended",
      () => !statSync(`/proc/${readFileSync(pid, "utf8").trim()}`, { throwIfNoEntry: false }),
    );
    const { stdout } = await svc(["sessions", "commands", proxied.session.id, "--json=command"]);
    expect(JSON.parse(stdout)).toContainEqual({ command: ["svc-agent", "ssh-server"] });
  });
});
