import { expect } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stackOf } from "../../cli/commands/self-host/stack.ts";
import { freePort } from "../../scripts/free-port.ts";
import { TEST_LIMIT_MS } from "../../scripts/test/limit.ts";
import { runtimeFolder } from "../../src/sandboxes/runtime/install.ts";
import { cliEnv, gitAtHome, makeHome, type Ran, svc } from "../helpers/cli-run.ts";
import { DOCKER } from "../helpers/docker-engine.ts";
import { needs, succeeds } from "../helpers/needs.ts";
import { buildPostgresImage, POSTGRES_IMAGE } from "../helpers/postgres-image.ts";
import { git } from "../helpers/remote.ts";
import { RUNTIME, RUNTIME_NAME } from "../helpers/runtime.ts";

const COMPOSE = succeeds("docker-compose", "version") || succeeds("docker", "compose", "version");
const HOST = process.env["DOCKER_HOST"] ?? "";

const home = makeHome();
const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-sh-")));
const env = {
  DOCKER_HOST: HOST,
  SVC_SELF_HOST_DIR: join(folder, "sh"),
  SVC_SELF_HOST_POSTGRES_IMAGE: POSTGRES_IMAGE,
};
/** The folder of the server that is restored from a backup of the first. */
const RESTORED = join(folder, "re");
const RESTORED_PROJECT = stackOf({ env: { SVC_SELF_HOST_DIR: RESTORED } }).project;

const run = (...args: string[]): Promise<string> => runIn(env.SVC_SELF_HOST_DIR, ...args);

async function runIn(dir: string, ...args: string[]): Promise<string> {
  const ran = await tryIn(dir, ...args);
  if (ran.code !== 0) throw new Error(`svc ${args.join(" ")}: ${ran.stderr}`);
  return ran.stdout;
}

const tryIn = (dir: string, ...args: string[]): Promise<Ran> =>
  svc(args, { home, env: { ...env, SVC_SELF_HOST_DIR: dir } });

function docker(...args: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(["docker", ...args], {
    env: { ...cliEnv(home.home), DOCKER_HOST: HOST },
  });
  if (!success) throw new Error(`docker ${args.join(" ")}: ${stderr}`);
  return stdout.toString().trim();
}

const present = DOCKER[1] && COMPOSE && RUNTIME !== null;
needs(`${DOCKER[0]}, Docker Compose and ${RUNTIME_NAME}`, present)(
  "a server in containers: a session, a merge, and everything is still there after a restart, an update and a restore",
  async () => {
    // undone at the end of the test: the engine ends before what \`afterAll\` of this file would do
    const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
    try {
      await workWithServer(undo);
    } finally {
      for (const step of undo.reverse()) await step();
    }
  },
  // a dozen starts and stops of containers, each of which may take a minute on a busy machine
  3 * TEST_LIMIT_MS,
);

async function workWithServer(undo: (() => unknown)[]): Promise<void> {
  buildPostgresImage(HOST);
  const flags = ["--listen", `:${freePort()}`, "--email", "ada@example.com"];
  const first = JSON.parse(await run("self-host", "start", ...flags, "--json"));
  const project = projectOf(docker("ps", "--format", '{{.Label "com.docker.compose.project"}}'));
  undo.push(() => removeProject(project));
  expect(first).toMatchObject({ mode: "compose", host: "selfhost", already_running: false });
  installRuntime(project);
  await mergeChange();
  await run("secrets", "set", "GREETING=from the first server");
  const session = JSON.parse(await run("sessions", "new", "--json"));
  undo.push(() => run("sessions", "rm", session.session_id, "--yes"));
  expect(session).toMatchObject({ status: "running", sandbox_provider: "docker" });

  await run("self-host", "stop");
  const stopped = await svc(["self-host", "status", "--json"], { home, env });
  const states = JSON.parse(stopped.stdout).services.map((each: { state: string }) => each.state);
  expect([stopped.code, states]).toEqual([1, ["stopped", "stopped"]]);

  const second = JSON.parse(await run("self-host", "start", "--json"));
  expect(second).toMatchObject({ email: "ada@example.com", already_running: false });
  expect(JSON.parse(await run("cr", "show", "1", "--json"))).toMatchObject({ status: "merged" });
  const kept = JSON.parse(await run("sessions", "info", session.session_id, "--json"));
  expect(kept).toMatchObject({ status: "running" });
  expect(await run("self-host", "logs", "db", "--tail", "1")).toContain("db");

  await rollBackUpdate();
  await recoverDatabase(project);
  await restoreElsewhere(undo);
}

/** The database's container ends while the server runs: doctor names it, and a start brings it back. */
async function recoverDatabase(project: string): Promise<void> {
  docker("kill", containerOf(project, "db"));
  const diagnosis = await tryIn(env.SVC_SELF_HOST_DIR, "self-host", "doctor", "--json");
  const found = JSON.parse(diagnosis.stdout).find(({ check }: { check: string }) => check === "services");
  expect(found).toMatchObject({ state: "failed", hint: "Run: svc self-host start" });
  expect(found.message).toStartWith("db is stopped");
  const away = await svc(["self-host", "doctor"], {
    home,
    env: { ...env, DOCKER_HOST: `unix://${join(folder, "no.sock")}` },
  });
  expect(away.stdout).toContain("The Docker engine does not answer");
  expect(away.stdout).toMatch(/ok +settings/);
  expect(JSON.parse(await run("self-host", "start", "--json"))).toMatchObject({ already_running: false });
}

/** An update to a version that ends at its start: the old one runs again, with its image and data. */
async function rollBackUpdate(): Promise<void> {
  const broken = join(folder, "svc-api");
  writeFileSync(
    broken,
    '#!/bin/sh\n[ "$1" = version ] && echo svc-api 99.0.0 && exit\necho broken >&2\nexit 3\n',
  );
  chmodSync(broken, 0o755);
  const before = await stateOf();
  const ran = await tryIn(env.SVC_SELF_HOST_DIR, "self-host", "update", "--api-binary", broken);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain("the old version runs again");
  expect(ran.stderr).toContain("api | broken");
  expect(await stateOf()).toEqual(before);
}

/** The archive is restored into a project of its own on the same engine, after a try with another key. */
async function restoreElsewhere(undo: (() => unknown)[]): Promise<void> {
  const before = await stateOf();
  const archive = join(folder, "one.tar");
  await run("self-host", "backup", archive);
  await run("self-host", "stop");
  const settings = readFileSync(join(folder, "one.env"), "utf8");
  writeFileSync(
    join(folder, "one.env"),
    settings.replace(/^SVC_MASTER_KEY=.*$/m, `SVC_MASTER_KEY=${"0".repeat(64)}`),
  );
  // both servers have the same address, and one of them must delete the session
  undo.push(
    () => run("self-host", "start"),
    () => removeProject(RESTORED_PROJECT, RESTORED),
  );
  const refused = await tryIn(RESTORED, "self-host", "restore", archive);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("is not the key of this backup"),
  });
  writeFileSync(join(folder, "one.env"), settings);
  await runIn(RESTORED, "self-host", "restore", archive);
  expect([containerOf(RESTORED_PROJECT, "db"), containerOf(RESTORED_PROJECT, "api")]).toEqual(["", ""]);

  // a program has taken the port that svc chose for the database
  const file = readFileSync(join(RESTORED, "env"), "utf8");
  const port = Number(/^SVC_SELF_HOST_DB_PORT=(\d+)$/m.exec(file)?.[1]);
  using _ = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
  await runIn(RESTORED, "self-host", "start");
  expect(await stateOf()).toEqual(before);
  const checked = docker(
    ...["exec", containerOf(RESTORED_PROJECT, "api")],
    ...["sh", "-c", "for each in /var/lib/svc/repositories/*.git; do git -C $each fsck --full || exit; done"],
  );
  expect(checked).toBe("");
}

/** What a person sees of the server's rows, and the refs of the repository. */
async function stateOf() {
  const [change, secrets, refs] = [
    JSON.parse(await run("cr", "show", "1", "--json")),
    await run("secrets", "ls", "--json"),
    await gitAtHome(home, ["ls-remote", "origin"]),
  ];
  expect([change.status, secrets.includes("GREETING"), refs.code]).toEqual(["merged", true, 0]);
  return { change, secrets, refs: refs.out };
}

function containerOf(project: string, service: string): string {
  const filter = (name: string, value: string) => ["--filter", `label=com.docker.compose.${name}=${value}`];
  return docker("ps", "--quiet", ...filter("project", project), ...filter("service", service));
}

async function mergeChange(): Promise<void> {
  const commit = (name: string) => {
    writeFileSync(join(home.cwd, name), "");
    git(["-C", home.cwd, "add", "--all"]);
    git(["-C", home.cwd, "commit", "--quiet", `--message=${name}`]);
  };
  git(["-C", home.cwd, "init", "--quiet", "--initial-branch=main"]);
  commit("first");
  await run("ship", "--yes");
  git(["-C", home.cwd, "switch", "--quiet", "--create=change"]);
  commit("second");
  expect(await gitAtHome(home, ["push", "--quiet", "origin", "HEAD"])).toMatchObject({ code: 0 });
  await run("cr", "open", "--title", "Second", "--head", "change");
  await run("cr", "merge", "1");
}

function projectOf(labels: string): string {
  const [project = ""] = labels.split("\n").filter((label) => label !== "");
  expect(project).toStartWith("svc-self-host-");
  return project;
}

/** As `--install-runtime` would, without a registry. */
function installRuntime(project: string): void {
  const source = dirname(dirname(RUNTIME ?? ""));
  const target = runtimeFolder("/data");
  const volumes = ["--volume", `${source}:/from:ro`, "--volume", `${project}_data:/data`];
  const copy = `mkdir -p ${target} && cp -a /from/. ${target}`;
  docker("run", "--rm", ...volumes, "debian:bookworm-slim", "sh", "-c", copy);
}

async function removeProject(project: string, dir = env.SVC_SELF_HOST_DIR): Promise<void> {
  await tryIn(dir, "self-host", "stop");
  docker("volume", "rm", `${project}_data`, `${project}_db`);
  const images = docker("images", "--quiet", `${project}-api`);
  docker("rmi", "--force", ...images.split("\n"));
}
