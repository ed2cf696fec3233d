import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSettings, SettingsError } from "../../daemon/settings.ts";
import { cleanEnvironment } from "../helpers/api.ts";
import { runClient } from "../helpers/gateway.ts";
import {
  AGENT,
  CLI_TOKEN,
  CLONE_TOKEN,
  leastEnvironment,
  SERVICE_KEY,
  startSandbox,
} from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const MANIFEST = 'svc_version = 1\n[opencode]\nconfig_dir = "agent/config"\n';

test("a sandbox boots: clone, runtime, requests; and leaves no secret of svc anywhere", async () => {
  await using sandbox = await startSandbox({
    files: { "svc.toml": MANIFEST },
    env: {
      SVC_PROJECT_SECRET_NAMES: "API_KEY",
      API_KEY: "mine",
      SVC_OPENCODE_MODEL: "large",
      SVC_LLM_API_KEY: "k",
      SVC_LLM_BASE_URL: "http://127.0.0.1:1/v1",
      SVC_EXECUTOR_TOKEN: CLI_TOKEN,
    },
  });
  const { sessionId, workspace, home, git, url } = sandbox;
  const health = await sandbox.untilHealth("the runtime is ready", ({ runtime }) => runtime === "ok");
  const { out: head } = await runClient(workspace, "rev-parse", "HEAD");
  expect(health).toEqual({
    daemon: "ok",
    time: expect.any(String),
    runtime: "ok",
    uptime_s: expect.any(Number),
    worked_ms: expect.any(Number),
    runtime_pid: expect.any(Number),
    repo: `${git.origin}/project.git`,
    branch: sessionId,
    commit: head.trim(),
    clone: "ok",
    busy: false,
    conversation: null,
    active_at: expect.any(String),
    saved: null,
  });
  const config = (key: string) =>
    runClient(workspace, "config", "--get-all", key).then(({ out }) => out.trim());
  expect(await config("remote.origin.url")).toBe(`${git.origin}/project.git`);
  expect(await config("user.name")).toBe("svc agent");
  expect(await config("user.email")).toBe(`${sessionId}@sessions.svc.invalid`);
  // the empty one first: what the machine brings is not asked
  const helpers = await runClient(
    workspace,
    "config",
    "--local",
    "-z",
    "--get-all",
    `credential.${git.origin}.helper`,
  );
  expect(helpers.out.split("\0")).toEqual(["", expect.stringMatching(/^!.* 'git-credential'$/), ""]);
  expect(await config(`credential.${git.origin}.useHttpPath`)).toBe("true");
  expect((await runClient(workspace, "status", "-sb")).out).toContain(`${sessionId}...origin/${sessionId}`);

  const runtime = await (await sandbox.call("GET", "/standin")).json();
  expect(runtime).toMatchObject({
    cwd: workspace,
    pid: health.runtime_pid,
    env: {
      HOME: home,
      API_KEY: "mine",
      SVC_CLI_TOKEN: CLI_TOKEN,
      OPENCODE_CONFIG_DIR: join(home, "agentrt"),
      OPENCODE_PERMISSION: '{"*":"allow"}',
    },
  });
  expect(JSON.parse(runtime.env.OPENCODE_CONFIG_CONTENT)).toMatchObject({
    model: "svc/large",
    share: "disabled",
    autoupdate: false,
    provider: { svc: { options: { apiKey: "{env:SVC_LLM_API_KEY}" }, models: { large: {} } } },
    mcp: {
      svc: {
        type: "remote",
        url: "{env:SVC_API_URL}/executor/mcp",
        headers: { Authorization: "Bearer {env:SVC_EXECUTOR_TOKEN}" },
        oauth: false,
      },
    },
  });
  expect(JSON.stringify(runtime.env)).not.toContain(SERVICE_KEY);
  for (const folder of [workspace, home]) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const text = readFileSync(join(entry.parentPath, entry.name), "latin1");
      for (const secret of [SERVICE_KEY, CLONE_TOKEN, CLI_TOKEN]) expect(text).not.toContain(secret);
    }
  }
  for (const secret of [SERVICE_KEY, CLONE_TOKEN, CLI_TOKEN]) expect(sandbox.log()).not.toContain(secret);
  expect((await fetch(`${url}/standin`)).status).toBe(401);
});

test("the agent's git pushes with the credential helper, which works only for the session's repository", async () => {
  await using sandbox = await startSandbox();
  const { workspace, sessionId } = sandbox;
  await sandbox.untilHealth("the runtime is ready", ({ runtime }) => runtime === "ok");
  const { env } = await (await sandbox.call("GET", "/standin")).json();
  writeFileSync(join(workspace, "b.txt"), "2\n");
  for (const args of [
    ["add", "."],
    ["commit", "-qm", "second"],
    ["push", "-q", "origin", "HEAD"],
  ]) {
    const child = Bun.spawn(["git", ...args], { cwd: workspace, env, stdin: "ignore", stderr: "pipe" });
    expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
  }
  expect(await sandbox.repository.git("log", "-1", "--format=%s %ae", sessionId)).toBe(
    `second ${sessionId}@sessions.svc.invalid`,
  );
  expect(sandbox.api.requests.at(-1)?.authorization).toBe(`Bearer ${CLI_TOKEN}`);

  const ask = async (request: string) => {
    const child = Bun.spawn([...AGENT, "git-credential", "get"], {
      env: { ...cleanEnvironment(), ...env },
      stdin: Buffer.from(request),
      stderr: "ignore",
    });
    return await new Response(child.stdout).text();
  };
  const { host } = new URL(sandbox.git.origin);
  expect(await ask(`protocol=http\nhost=${host}\npath=project.git\n\n`)).toContain(
    `password=${CLONE_TOKEN}\npassword_expiry_utc=`,
  );
  for (const request of [
    `protocol=https\nhost=${host}\npath=project.git\n\n`,
    `protocol=http\nhost=evil.example\npath=project.git\n\n`,
    `protocol=http\nhost=${host}\npath=project.git/../other.git\n\n`,
    `protocol=http\nhost=${host}\npath=other.git\n\n`,
    "nonsense",
    "",
  ])
    expect(await ask(request)).toBe("");
});

const refusal = (status: number) => () => Response.json({ error: "no", code: "x" }, { status });

// which statuses are permanent is tested in `daemon/credential`
test.each<[string, number, boolean]>([
  ["svc is starting", 503, false],
  ["the session has ended", 403, true],
])("a failed clone is reported and retried until it succeeds: %s", async (_, status, permanent) => {
  await using sandbox = await startSandbox({ api: refusal(status) });
  const failed = await sandbox.untilHealth("the clone has failed", ({ clone }) => clone === "failed");
  expect(failed).toMatchObject({ runtime: "starting", commit: null, error: { kind: "clone", permanent } });
  const early = await sandbox.call("GET", "/session/status");
  expect([early.status, early.headers.get("retry-after")]).toEqual([503, "1"]);
  // files of an earlier boot stay until the clone is complete
  mkdirSync(join(sandbox.workspace, ".svc-boot-killed/clone"), { recursive: true });
  mkdirSync(join(sandbox.workspace, "old"));
  writeFileSync(join(sandbox.workspace, "old/work.txt"), "unsaved");
  sandbox.api.answer = () => null;
  const health = await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  expect(health.error).toBeUndefined();
  expect(readdirSync(sandbox.workspace).toSorted()).toEqual([".git", "a.txt"]);
});

/** Answers requests for a credential once it is released: until then, the repository is not cloned. */
function holdClone() {
  const { promise, resolve } = Promise.withResolvers<null>();
  const api = (request: Request) => (request.url.endsWith("/clone-credential") ? promise : null);
  return { api, release: () => resolve(null) };
}

test("the runtime's process starts while the repository is cloned, and then reads it", async () => {
  const held = holdClone();
  await using sandbox = await startSandbox({ api: held.api });
  await until("its process has started", () => sandbox.notes().some((note) => note.startsWith("start ")));
  // the time of the runtime is no progress of the clone
  const idle = await sandbox.untilHealth("only the runtime works", ({ worked_ms }) => worked_ms === 0);
  expect(idle).toMatchObject({ clone: "cloning", runtime: "starting", runtime_pid: expect.any(Number) });
  expect((await sandbox.call("GET", "/session/status")).status).toBe(503);
  held.release();
  await sandbox.untilHealth(
    "its time counts now",
    ({ runtime, worked_ms = 0 }) => runtime === "ok" && worked_ms > 0,
  );
  const { found, cwd } = await (await sandbox.call("GET", "/standin")).json();
  expect([found.toSorted(), cwd]).toEqual([[".git", "a.txt"], sandbox.workspace]);
  expect(sandbox.notes().filter((note) => note.startsWith("start "))).toHaveLength(1);
});

// with a setup command neither: `daemon/setup`
test("nothing of the agent runs before the workspace is complete with an agent's record to restore", async () => {
  const held = holdClone();
  const env = { SVC_AGENT_RECORD: JSON.stringify({ since: null }) };
  await using sandbox = await startSandbox({ api: held.api, env });
  await until("the clone waits", () => sandbox.api.requests.some(({ path }) => path.endsWith("credential")));
  held.release();
  await sandbox.untilHealth("the runtime is ready", ({ runtime }) => runtime === "ok");
  const [cloned, started] = ["cloned ", "started the runtime"].map((line) => sandbox.log().indexOf(line));
  expect(cloned).toBeGreaterThan(0);
  expect(started).toBeGreaterThan(cloned ?? 0);
});

test("a runtime that cannot start is reported once the repository is cloned", async () => {
  const env = { SVC_RUNTIME_BIN: "/nonexistent/opencode" };
  await using sandbox = await startSandbox({ api: refusal(503), env });
  const failed = await sandbox.untilHealth(
    "both have failed",
    ({ clone, runtime }) => clone === "failed" && runtime === "failed",
  );
  expect(failed.error).toMatchObject({ kind: "clone", permanent: false });
  sandbox.api.answer = () => null;
  const cloned = await sandbox.untilHealth("it is cloned", ({ clone }) => clone === "ok");
  expect(cloned.error).toMatchObject({ kind: "runtime", permanent: true });
});

test("a missing branch is a permanent failure, and is cloned once it exists", async () => {
  await using sandbox = await startSandbox({ env: { SVC_BRANCH_NAME: "late" } });
  const failed = await sandbox.untilHealth("the clone has failed", ({ clone }) => clone === "failed");
  expect(failed.error).toEqual({
    kind: "clone",
    message:
      "The repository could not be cloned: the session's branch is not in the repository: it was deleted, or never pushed.",
    permanent: true,
  });
  await sandbox.repository.write([{ name: "late", branch: "late", files: { "b.txt": "2" } }]);
  const health = await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  expect(health.branch).toBe("late");
});

test("a login shell has the sandbox's PATH, unless the image sets another; hooks of git's template folder are not copied", async () => {
  const path = `/it's mine:${process.env["PATH"]}`;
  await using sandbox = await startSandbox({ env: { PATH: path, GIT_TEMPLATE_DIR: "/nonexistent" } });
  await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  expect(existsSync(join(sandbox.workspace, ".git/hooks"))).toBe(false);
  const child = Bun.spawn(["sh", "-lc", "echo $PATH"], {
    env: { HOME: sandbox.home, PATH: "/bin:/usr/bin" },
  });
  expect(await new Response(child.stdout).text()).toStartWith("/it's mine:");
  writeFileSync(join(sandbox.home, ".profile"), "# its own\n");
  await sandbox.call("POST", "/svc/env", "platform", { revision: "2", env: { A: "1" } });
  await sandbox.untilHealth("it works again", ({ runtime }) => runtime === "ok");
  expect(readFileSync(join(sandbox.home, ".profile"), "utf8")).toBe("# its own\n");
});

test("a folder without a clone is used as it is", async () => {
  await using sandbox = await startSandbox({ env: { SVC_PROJECT_AUTO_CLONE: "0" } });
  const health = await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  expect(health).toMatchObject({ clone: "ok", commit: null });
  expect(sandbox.api.requests).toEqual([]);
});

test.each<[string, string]>([
  ["SVC_TOKEN", ""],
  ["SVC_TOKEN", "with blank"],
  ["SVC_SESSION_ID", "x"],
  ["SVC_PROJECT_ID", "../x"],
  ["SVC_BRANCH_NAME", "--upload-pack=x"],
  ["SVC_BRANCH_NAME", "a..b"],
  ["SVC_BRANCH_NAME", "a.lock"],
  ["SVC_REPO_URL", "ext::sh -c x"],
  ["SVC_REPO_URL", "http://user:secret@host/x.git"],
  ["SVC_API_URL", "file:///etc"],
  ["SVC_SERVICE_PORT", "70000"],
  ["SVC_RUNTIME_PORT", "0"],
  ["SVC_WORKSPACE", "/"],
  ["SVC_WORKSPACE", "relative"],
  ["SVC_WORKSPACE", "/tmp/../etc"],
  ["SVC_RUNTIME_HOME", "/workspace/home"],
  ["SVC_RUNTIME_USER", "root"],
  ["SVC_RUNTIME_WRAP", "bwrap --x"],
  ["SVC_RUNTIME_WRAP", "[1]"],
  ["SVC_PROJECT_SECRET_NAMES", "A,SVC_TOKEN"],
  ["SVC_PROJECT_SECRET_NAMES", "LD_PRELOAD"],
])("an invalid setting is refused by its name: %s=%s", (name, value) => {
  const said = refusalOf({ SVC_SERVICE_PORT: "0", [name]: value });
  expect(said).toContain(name);
  expect(said).not.toMatch(/\n|secret@/);
});

/** Why the settings are refused; empty: they are not. */
function refusalOf(change: Record<string, string>): string {
  try {
    readSettings({ ...leastEnvironment(), ...change }, null);
    return "";
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
}

test("an invalid setting prints one line, and exits with 2", async () => {
  const child = Bun.spawn(AGENT, {
    env: { ...leastEnvironment(), SVC_SERVICE_PORT: "0", SVC_TOKEN: "with blank" },
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = await new Response(child.stderr).text();
  expect(await child.exited).toBe(2);
  expect(said).toMatch(/^svc-agent: .*SVC_TOKEN.*\n$/);
});
