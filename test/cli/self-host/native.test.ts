import { afterAll, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { processOf } from "../../../cli/commands/self-host/process-identity.ts";
import { svc } from "../../helpers/cli-run.ts";
import { selfHosted } from "../../helpers/self-hosted.ts";
import { until } from "../../helpers/until.ts";

/** One server for the whole file: each test begins with the state that the one before left. */
const server = selfHosted();
afterAll(() => server.end());

const status = async () => JSON.parse((await server.selfHost("status", "--json")).stdout);
const config = () => JSON.parse(readFileSync(server.home.config, "utf8"));
/** With a PATH on which there is no docker. */
const withoutDocker = (verb: string) =>
  svc(["self-host", verb], { home: server.home, env: { SVC_SELF_HOST_DIR: server.dir, PATH: server.empty } });
const isHealthy = async () => (await server.selfHost("status")).code === 0;

test("a public URL that the server would refuse is refused before anything is stored", async () => {
  expect(await server.start("--public-url", "https://svc.example.com:99999")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--public-url must be a URL"),
  });
  expect(existsSync(server.dir)).toBe(false);
});

test("the first start makes settings, starts the server, signs in and prints a link", async () => {
  expect(await server.selfHost("status")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("svc self-host start"),
  });
  // without Docker the first attempt fails, and decides nothing
  expect((await withoutDocker("start")).stderr).toContain("svc self-host start --native");
  const ran = await server.start("--json");
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  const answer = JSON.parse(ran.stdout);
  const url = `http://localhost:${server.port}`;
  expect(answer).toMatchObject({
    url,
    mode: "native",
    email: "ada@example.com",
    host: "selfhost",
    already_running: false,
    settings_changed: false,
    sign_in_url: expect.stringContaining(`${url}/welcome?token=`),
  });
  expect(config()).toMatchObject({
    active: "selfhost",
    hosts: {
      selfhost: {
        url: `${url}/v1`,
        user_email: "ada@example.com",
        token: expect.stringMatching(/^svc_pat_/),
      },
    },
  });
  for (const name of ["env", "state.json", "server.log", "server.json"]) {
    expect([name, statSync(join(server.dir, name)).mode & 0o777]).toEqual([name, 0o600]);
  }
  expect(statSync(server.dir).mode & 0o777).toBe(0o700);
});

test("a second start says that it runs, and keeps process, token and secrets", async () => {
  const before = [server.processes(), config(), readFileSync(join(server.dir, "env"), "utf8")];
  const ran = await server.start();
  expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining("runs already") });
  expect([server.processes(), config(), readFileSync(join(server.dir, "env"), "utf8")]).toEqual(before);
});

test("svc-api is restarted when it is killed", async () => {
  const { api, supervisor } = server.processes();
  process.kill(api?.pid ?? 0, "SIGKILL");
  await until("svc-api is back", async () => {
    const now = server.processes();
    return now.api !== null && now.api.pid !== api?.pid && (await isHealthy());
  });
  expect(server.processes()).toMatchObject({ supervisor, exits: 1 });
  expect((await status()).services).toEqual([
    { name: "api", state: "running", since: expect.any(String), restarts: 1 },
  ]);
});

test("settings can be listed and set; they take effect after a restart", async () => {
  const listed = await server.selfHost("env", "ls");
  expect(listed.stdout).toContain("SVC_MASTER_KEY\t********\n");
  expect(listed.stdout).toContain(`SVC_PORT\t${server.port}\n`);
  // of the start in containers that failed
  expect(listed.stdout).not.toMatch(/^(?:POSTGRES_|SVC_SELF_HOST_)/m);
  const set = await server.selfHost(
    "env",
    "set",
    "SVC_SIGN_UP=open",
    "SVC_LLM_API_KEY=sk-1",
    "SVC_LLM_BASE_URL=http://m/v1",
  );
  expect(set).toMatchObject({ code: 0, stderr: expect.stringContaining("after a restart") });
  expect(set.stdout + set.stderr).not.toContain("sk-1");
  expect(await status()).toMatchObject({ healthy: true, settings_changed: true });
  expect((await server.selfHost("env", "set", "SVC_SIGN_UP=")).stdout).toBe("SVC_SIGN_UP is removed.\n");
  expect((await server.selfHost("env", "set", "SVC_SINGUP=open")).code).toBe(2);
});

test.each([
  [
    "SVC_IDLE_TIMEOUT=abc",
    /SVC_IDLE_TIMEOUT must be a whole number from 10 to 2592000, such as 3600, not "abc"/,
  ],
  ["SVC_SANDBOX_API_URL=api.example.com", /SVC_SANDBOX_API_URL must be .*, such as http:\/\/\S+\./],
  ["SVC_RELEASES_DIR=/nowhere", /SVC_RELEASES_DIR must be a folder of releases/],
  // what the start reads after the configuration
  ["SVC_MODELS_FILE=/nowhere.toml", /SVC_MODELS_FILE \(\/nowhere\.toml\) is not valid/],
  ["SVC_RUNTIMES_FILE=/nowhere.toml", /SVC_RUNTIMES_FILE \(\/nowhere\.toml\) is not valid/],
  // half of a pair
  ["SVC_LLM_BASE_URL=", /SVC_LLM_BASE_URL and SVC_LLM_API_KEY must be set together/],
])("%s is refused at once, not by the next start", async (pair, problem) => {
  const before = readFileSync(join(server.dir, "env"), "utf8");
  const ran = await server.selfHost("env", "set", "SVC_LOG_LEVEL=warn", pair);
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(ran.stderr).toMatch(problem);
  expect(ran.stderr).toContain("No setting was changed. docs/configuration.md");
  expect(readFileSync(join(server.dir, "env"), "utf8")).toBe(before);
});

test("an invalid setting in the file does not prevent the change of another", async () => {
  const file = join(server.dir, "env");
  const before = readFileSync(file, "utf8");
  writeFileSync(file, `${before}SVC_APP_CAP=many\n`);
  expect(await server.selfHost("env", "set", "SVC_LOG_LEVEL=warn")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("does not start with another setting: SVC_APP_CAP must be"),
  });
  expect(readFileSync(file, "utf8")).toContain("SVC_LOG_LEVEL=warn\n");
  writeFileSync(file, before);
});

test.each([
  ["there is none", null],
  ["it is older and has no such command", "svc-api: Unknown command"],
])("settings are stored unchecked if svc-api cannot check them: %s", async (_, line) => {
  const [program, aside] = [join(server.dir, "bin/svc-api"), join(server.dir, "bin/aside")];
  const before = readFileSync(join(server.dir, "env"), "utf8");
  renameSync(program, aside);
  try {
    if (line !== null) writeFileSync(program, `#!/bin/sh\necho '${line}' >&2; exit 2\n`, { mode: 0o755 });
    const ran = await server.selfHost("env", "set", "SVC_IDLE_TIMEOUT=600");
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining("could not be checked") });
    expect(readFileSync(join(server.dir, "env"), "utf8")).toContain("SVC_IDLE_TIMEOUT=600\n");
  } finally {
    renameSync(aside, program);
    writeFileSync(join(server.dir, "env"), before);
  }
});

test("answers can be given as flags, and are refused together if one is wrong", async () => {
  const ran = await server.selfHost("configure", "--sign-up", "open", "--model-key", "sk-2", "--json");
  expect(JSON.parse(ran.stdout)).toEqual([
    { name: "SVC_SIGN_UP", value: "open", secret: false, applies: "after a restart" },
    { name: "SVC_LLM_API_KEY", value: "********", secret: true, applies: "after a restart" },
  ]);
  const before = readFileSync(join(server.dir, "env"), "utf8");
  expect(before).toContain("SVC_LLM_API_KEY=sk-2\n");
  const wrong = await server.selfHost("configure", "--sign-up", "invited", "--listen", "nowhere");
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("--listen must be an IP address") });
  expect((await server.selfHost("configure")).stderr).toContain("must be flags");
  expect(readFileSync(join(server.dir, "env"), "utf8")).toBe(before);
});

test("a server whose supervisor was killed is found, and stopped", async () => {
  const { supervisor, api } = server.processes();
  process.kill(supervisor.pid, "SIGKILL");
  await until("the supervisor is gone", () => processOf(supervisor.pid)?.id !== supervisor.id);
  // svc-api ends by itself at its next line of log, which the question for its health may cause
  expect(["orphaned", "stopped"]).toContain((await status()).services[0].state);
  expect((await server.selfHost("stop")).code).toBe(0);
  expect(processOf(api?.pid ?? 0)?.id).not.toBe(api?.id);
  expect(await server.selfHost("stop")).toMatchObject({ code: 0, stdout: "The server was not running.\n" });
  expect(await status()).toMatchObject({ healthy: false, services: [{ state: "stopped" }] });
});

test("a start that fails shows the server's last lines, and leaves nothing behind", async () => {
  // by hand: `env set` refuses it
  appendFileSync(join(server.dir, "env"), "SVC_IDLE_TIMEOUT=never\n");
  const ran = await server.start();
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("api | svc-api: SVC_IDLE_TIMEOUT must be");
  // lines of an earlier start
  expect(ran.stderr).not.toContain("listens on");
  expect((await status()).services[0].state).toBe("stopped");
  await server.selfHost("env", "set", "SVC_IDLE_TIMEOUT=");
});

test("a start that fails does not keep the settings of its flags", async () => {
  const before = readFileSync(join(server.dir, "env"), "utf8");
  const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  try {
    const flags = ["--native", "--no-service", "--listen", `127.0.0.1:${other.port}`];
    expect(await server.selfHost("start", ...flags)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`cannot listen on 127.0.0.1:${other.port}`),
    });
  } finally {
    other.stop();
  }
  expect(readFileSync(join(server.dir, "env"), "utf8")).toBe(before);
});

test("stop never signals another process that has the id of one of the server's", async () => {
  const stranger = Bun.spawn(["sleep", "600"]);
  try {
    const reused = { pid: stranger.pid, id: "an earlier boot 1" };
    const record = { supervisor: reused, api: reused, since: new Date(0).toISOString(), exits: 0 };
    writeFileSync(join(server.dir, "server.json"), JSON.stringify(record));
    const state = JSON.parse(readFileSync(join(server.dir, "state.json"), "utf8"));
    writeFileSync(join(server.dir, "state.json"), JSON.stringify({ ...state, service: "process" }));
    expect((await status()).services[0].state).toBe("stopped");
    expect((await server.selfHost("stop")).stdout).toBe("The server was not running.\n");
    expect(stranger.exitCode).toBeNull();
    expect(stranger.killed).toBe(false);
  } finally {
    stranger.kill("SIGKILL");
  }
});

test("the next start has the data and the token of the first", async () => {
  const before = config();
  const ran = await server.start("--json");
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  expect(JSON.parse(ran.stdout)).toMatchObject({ already_running: false, email: "ada@example.com" });
  expect(config()).toEqual(before);
  const log = await server.selfHost("logs", "--tail", "5000");
  expect(log.stdout).toContain("svc-api: SVC_IDLE_TIMEOUT must be");
  expect(log.stdout).toContain("listens on");
  expect((await server.selfHost("logs", "db")).code).toBe(2);
  expect(await server.selfHost("logs", "caddy")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("A native server does not run Caddy."),
  });
});

test("settings that are missing are not replaced by new secrets", async () => {
  await server.selfHost("stop");
  rmSync(join(server.dir, "env"));
  expect((await server.start()).stderr).toContain("settings of the self-hosted server are missing");
  rmSync(join(server.dir, "state.json"));
  expect((await server.start()).stderr).toContain("has no SVC_MASTER_KEY for it");
  writeFileSync(join(server.dir, "env"), "not a setting\n");
  expect((await server.start()).stderr).toContain("line 1: it is not NAME=VALUE");
});
