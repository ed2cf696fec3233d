import { expect } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { importNoise } from "../../scripts/bench/noise.ts";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { AGAINST_BINARIES, caller, makeFolder, spawnServer } from "../helpers/api.ts";
import { refsOf, runClient, scratch } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES } from "../helpers/postgres.ts";
import { share } from "../helpers/random.ts";
import { residentMegabytes } from "../helpers/resident-memory.ts";

const SERVER = AGAINST_BINARIES ? [resolve("dist/svc-api")] : [process.execPath, resolve("src/main.ts")];
const test = needs("a real Postgres on Linux", POSTGRES && process.platform === "linux");

const PROJECTS = 5;
const CLONES_EACH = share(2, 10);
const PUSHES_EACH = 4;
/** All pushes together, which no compression makes smaller: more than the memory that the server may take. */
const PUSHED_MIB = share(200, 1024);
const PUSH = { files: 64, fileBytes: Math.ceil((PUSHED_MIB * 1024 ** 2) / (PROJECTS * PUSHES_EACH * 64)) };
const BEGINNING = { files: share(10, 40), fileBytes: 500_000 };
const MEMORY_MAX_MB = 300;
const SAMPLE_MS = 50;

test(`${PROJECTS * CLONES_EACH} clones and 20 pushes of ${PUSHED_MIB} MiB at once, on 5 projects: none fails, and memory stays flat`, async () => {
  await using server = await startServer();
  using client = scratch();
  await fill(client.path);
  const projects = await Promise.all(Array.from({ length: PROJECTS }, () => server.project()));
  for (const url of projects) await git(client.path, "push", "--quiet", url, "main");
  const expected = await refsOf(client.path);

  const memory = watchMemory(server.pid);
  const clones = projects.flatMap((url) =>
    Array.from({ length: CLONES_EACH }, () => cloneOnce(client.path, url)),
  );
  const pushes = projects.flatMap((url) =>
    Array.from({ length: PUSHES_EACH }, (_, push) =>
      git(client.path, "push", "--quiet", url, `work-${push}`),
    ),
  );
  const cloned = await Promise.all(clones);
  await Promise.all(pushes);
  const peak = memory.stop();

  expect(cloned).toEqual(cloned.map(() => expected["refs/heads/main"] ?? ""));
  expect(server.repositories()).toHaveLength(PROJECTS);
  for (const directory of server.repositories()) {
    expect(await refsOf(directory)).toEqual(expected);
    await git(directory, "fsck", "--connectivity-only", "--no-dangling");
  }
  expect(peak).toBeLessThan(MEMORY_MAX_MB);
});

/** A repository with what every project begins with, and the branches that are pushed. */
async function fill(path: string): Promise<void> {
  await git(path, "init", "--quiet", "--bare", "--template=", "--initial-branch=main");
  await importNoise(path, { branch: "main", ...BEGINNING, seed: 0 });
  for (let push = 0; push < PUSHES_EACH; push++) {
    await importNoise(path, { branch: `work-${push}`, from: "main", ...PUSH, seed: push + 1 });
  }
}

/** @returns the commit that is checked out in a new clone */
async function cloneOnce(parent: string, url: string): Promise<string> {
  const folder = join(parent, `clone-${crypto.randomUUID()}`);
  await git(parent, "clone", "--quiet", "--single-branch", "--branch=main", url, folder);
  const commit = await git(folder, "rev-parse", "HEAD");
  rmSync(folder, { recursive: true });
  return commit;
}

async function git(directory: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await runClient(directory, ...args);
  if (code !== 0) throw new Error(`git ${args[0]}: ${err}`);
  return out.trim();
}

async function startServer() {
  const database = await createDatabase();
  const dataDir = makeFolder();
  const env = { SVC_PORT: "0", SVC_DATA_DIR: dataDir, SVC_LOG_LEVEL: "silent", DATABASE_URL: database.url };
  const { url, child, stop } = await spawnServer(SERVER, env);
  const token = await sendAdminCommand(dataDir, { verb: "token", email: "first@example.com", name: "test" });
  if (token === null) throw new Error("the server's admin socket does not answer");
  const call = caller(url, token);
  return {
    pid: child.pid,
    /** Makes a project that svc hosts; where git finds it. */
    async project() {
      const { body } = await call("POST", "/v1/projects", { body: { name: "Load" } });
      return `${url.replace("://", `://x:${token}@`)}/v1/git/${body.project_id}.git`;
    },
    /** Where the projects' repositories lie on this disk. */
    repositories() {
      const folder = join(dataDir, "repositories");
      return readdirSync(folder).map((name) => join(folder, name));
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(dataDir, { recursive: true, force: true });
      await database.drop();
    },
  };
}

/** Polls the resident memory of a process; `stop` returns its maximum in MB. */
function watchMemory(pid: number): { stop(): number } {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, residentMegabytes(pid));
  };
  const timer = setInterval(look, SAMPLE_MS);
  return {
    stop() {
      look();
      clearInterval(timer);
      return peak;
    },
  };
}
