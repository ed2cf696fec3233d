import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { hostOf, proxyOf } from "../../contract/proxy.ts";
import { RUNTIME_VERSION } from "../../contract/runtime.ts";
import { fetchPackage, unpack } from "./fetch-package.ts";
import { InstallError } from "./install-error.ts";
import { type Package, PLUGIN_PACKAGES } from "./packages.ts";
import { programPackage } from "./system.ts";

export interface InstallOptions {
  dataDir: string;
  /** The URL of an npm registry, without a trailing slash. The packages are checked against known digests. */
  registry: string;
  /** Called for each chunk, with the bytes of all downloads. */
  onProgress(done: number, total: number): void;
  /** The packages to install; by default those of this system. */
  packages?: { program: Package; plugins: readonly Package[] };
}

/** The runtime's folder in a data folder, with `bin/opencode` and `plugins/node_modules`. */
export function runtimeFolder(dataDir: string): string {
  return join(dataDir, "runtime", `opencode-${RUNTIME_VERSION}`);
}

/** For all downloads, over a slow connection. */
const INSTALL_MS = 30 * 60_000;
const CONCURRENCY = 4;
const VERSION_MS = 30_000;

/**
 * Installs the runtime's program for this system, and the packages of its plugins, atomically. Does nothing if they are
 * installed.
 * @returns the folder
 * @throws InstallError; the signal's reason
 */
export async function installRuntime(options: InstallOptions, signal: AbortSignal): Promise<string> {
  const { program, plugins } = options.packages ?? packagesHere();
  const target = runtimeFolder(options.dataDir);
  const packages = [
    { pack: program, into: "" },
    ...plugins.map((pack) => ({ pack, into: join("plugins/node_modules", pack.name) })),
  ];
  return await installInto(
    { target, packages, program: "bin/opencode", check: checkProgram },
    options,
    signal,
  );
}

/** A package, and the folder that its files are put into, below that of the installation. */
interface Placed {
  pack: Package;
  into: string;
}

interface Installation {
  target: string;
  packages: readonly Placed[];
  /** The program, below the folder. */
  program: string;
  /** Checks an installation before it is used. @throws InstallError */
  check(folder: string): Promise<void>;
}

/**
 * Installs packages into a folder, atomically. Does nothing if they are installed.
 * @returns the folder
 * @throws InstallError; the signal's reason
 */
export async function installInto(
  { target, packages, program, check }: Installation,
  options: InstallOptions,
  signal: AbortSignal,
): Promise<string> {
  const isInstalled = async () => await exists(join(target, program));
  if (await isInstalled()) return target;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(INSTALL_MS)]);
  try {
    await mkdir(dirname(target), { recursive: true });
    await removeLeftovers(dirname(target));
    const folder = await mkdtemp(join(dirname(target), UNFINISHED));
    try {
      await installPackages(folder, packages, options, limited);
      await check(folder);
      // the agent's user reads it
      await chmod(folder, 0o755);
      await rename(folder, target).catch(async (error: unknown) => {
        // another installation was faster
        if (!(await isInstalled())) throw error;
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } catch (error) {
    signal.throwIfAborted();
    throw limited.aborted
      ? new InstallError("The installation timed out.")
      : asInstallError(error, options.registry);
  }
  return target;
}

/** @throws InstallError when there are none for this system */
function packagesHere(): NonNullable<InstallOptions["packages"]> {
  const program = programPackage();
  if (program) return { program, plugins: PLUGIN_PACKAGES };
  throw new InstallError(
    `svc cannot install opencode ${RUNTIME_VERSION} on ${process.platform}-${process.arch}. Install opencode yourself, and set SVC_RUNTIME_BIN to its program.`,
  );
}

const UNFINISHED = "unfinished-";

async function exists(program: string): Promise<boolean> {
  return await access(program, constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** Removes the folders of killed installations: those that are older than an installation can take. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(UNFINISHED)) continue;
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > 2 * INSTALL_MS) await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function installPackages(
  folder: string,
  packages: readonly Placed[],
  { registry, onProgress }: InstallOptions,
  signal: AbortSignal,
): Promise<void> {
  const queue = packages.map(({ pack, into }) => ({ pack, into: join(folder, into) }));
  const total = queue.reduce((sum, { pack }) => sum + pack.bytes, 0);
  const done = new Map<string, number>();
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { pack, into } = next;
      const file = join(folder, `${pack.name.replace("/", "-")}.tgz`);
      await fetchPackage(registry, pack, file, either, (bytes) => {
        done.set(pack.name, bytes);
        onProgress(
          [...done.values()].reduce((sum, one) => sum + one, 0),
          total,
        );
      });
      await unpack(file, into);
      await rm(file);
    }
  };
  const workers = Array.from({ length: CONCURRENCY }, () =>
    worker().catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  // the caller removes the folder only when no worker writes into it
  await Promise.allSettled(workers);
  failed.signal.throwIfAborted();
}

/** Runs the program: one for another processor or C library would fail only in a session. */
async function checkProgram(folder: string): Promise<void> {
  const version = await versionOf(join(folder, "bin/opencode"));
  if (version === RUNTIME_VERSION) return;
  throw new InstallError(
    `The downloaded opencode does not run on this machine${version === null ? "" : ` as ${RUNTIME_VERSION}`}. Install opencode yourself, and set SVC_RUNTIME_BIN to its program.`,
  );
}

/** The version that a program prints; null when it does not run. */
export async function versionOf(program: string): Promise<string | null> {
  // opencode writes into its home even for --version
  const home = await mkdtemp(join(tmpdir(), "svc-opencode-"));
  try {
    const child = Bun.spawn([program, "--version"], {
      env: { HOME: home, PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: VERSION_MS,
      killSignal: "SIGKILL",
    });
    const stdout = (await new Response(child.stdout).text()).trim().slice(0, 100);
    return (await child.exited) === 0 && stdout !== "" ? stdout : null;
  } catch {
    return null;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function asInstallError(error: unknown, registry: string): Error {
  if (error instanceof InstallError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOSPC") return new InstallError("The disk with the data folder is full.");
  if (error instanceof Error && "syscall" in error && "path" in error)
    return new InstallError(`Cannot write to the data folder (${code}).`);
  const why = code || (error instanceof Error ? error.message : "unknown");
  const proxy = proxyOf(registry, process.env);
  const through = proxy
    ? `, through the proxy ${proxy.address}. Check ${proxy.variable}`
    : ". Check the network connection";
  return new InstallError(
    `Cannot download the agent runtime: the request to ${hostOf(registry)} failed (${why})${through}. To use a mirror, set SVC_NPM_REGISTRY.`,
  );
}
