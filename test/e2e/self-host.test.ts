import { expect } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "../../scripts/free-port.ts";
import { runtimeFolder } from "../../src/sandboxes/runtime/install.ts";
import { cliEnv, gitAtHome, makeHome, svc } from "../helpers/cli-run.ts";
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
async function run(...args: string[]): Promise<string> {
  const ran = await svc(args, { home, env });
  if (ran.code !== 0) throw new Error(`svc ${args.join(" ")}: ${ran.stderr}`);
  return ran.stdout;
}

function docker(...args: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(["docker", ...args], {
    env: { ...cliEnv(home.home), DOCKER_HOST: HOST },
  });
  if (!success) throw new Error(`docker ${args.join(" ")}: ${stderr}`);
  return stdout.toString().trim();
}

const present = DOCKER[1] && COMPOSE && RUNTIME !== null;
needs(`${DOCKER[0]}, Docker Compose and ${RUNTIME_NAME}`, present)(
  "a server in containers: a session, a merge, and everything is still there after a restart",
  async () => {
    // undone at the end of the test: the engine ends before what \`afterAll\` of this file would do
    const undo: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
    try {
      await workWithServer(undo);
    } finally {
      for (const step of undo.reverse()) await step();
    }
  },
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

/** As `--runtime` would, without a registry. */
function installRuntime(project: string): void {
  const source = dirname(dirname(RUNTIME ?? ""));
  const target = runtimeFolder("/data");
  const volumes = ["--volume", `${source}:/from:ro`, "--volume", `${project}_data:/data`];
  const copy = `mkdir -p ${target} && cp -a /from/. ${target}`;
  docker("run", "--rm", ...volumes, "debian:bookworm-slim", "sh", "-c", copy);
}

async function removeProject(project: string): Promise<void> {
  await run("self-host", "stop");
  docker("volume", "rm", `${project}_data`, `${project}_db`);
  const images = docker("images", "--quiet", `${project}-api`);
  docker("rmi", "--force", ...images.split("\n"));
}
