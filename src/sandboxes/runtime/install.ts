import { createReadStream, createWriteStream, type WriteStream } from "node:fs";
import { access, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { hostOf, proxyOf } from "../../contract/proxy.ts";
import { RUNTIME_VERSION } from "../../contract/runtime.ts";
import { entriesOf } from "../tar.ts";
import { type Package, PLUGIN_PACKAGES } from "./packages.ts";
import { programPackage } from "./system.ts";

/** The agent runtime could not be installed. The message is a sentence for the operator. */
export class InstallError extends Error {
  override readonly name = "InstallError";
}

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
/** Between two chunks of a download. */
const STALL_MS = 30_000;
const TRIES = 3;
const BACKOFF_MS = 2_000;
const CONCURRENCY = 4;
const VERSION_MS = 30_000;

/**
 * Installs the runtime's program for this system, and the packages of its plugins, atomically. Does nothing if they are
 * installed.
 * @returns the folder
 * @throws InstallError; the signal's reason
 */
export async function installRuntime(options: InstallOptions, signal: AbortSignal): Promise<string> {
  const target = runtimeFolder(options.dataDir);
  if (await isInstalled(target)) return target;
  const packages = options.packages ?? packagesHere();
  const limited = AbortSignal.any([signal, AbortSignal.timeout(INSTALL_MS)]);
  try {
    await mkdir(dirname(target), { recursive: true });
    await removeLeftovers(dirname(target));
    const folder = await mkdtemp(join(dirname(target), UNFINISHED));
    try {
      await installPackages(folder, packages, options, limited);
      await checkProgram(folder);
      await rename(folder, target).catch(async (error: unknown) => {
        // another installation was faster
        if (!(await isInstalled(target))) throw error;
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

async function isInstalled(folder: string): Promise<boolean> {
  return await access(join(folder, "bin/opencode"), constants.X_OK).then(
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
  { program, plugins }: NonNullable<InstallOptions["packages"]>,
  { registry, onProgress }: InstallOptions,
  signal: AbortSignal,
): Promise<void> {
  const queue = [
    { pack: program, into: folder },
    ...plugins.map((pack) => ({ pack, into: join(folder, "plugins/node_modules", pack.name) })),
  ];
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

async function fetchPackage(
  registry: string,
  pack: Package,
  file: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const url = `${registry}/${pack.name}/-/${pack.name.split("/").at(-1)}-${pack.version}.tgz`;
  for (let left = TRIES; ; left--) {
    try {
      return await download(url, pack, file, signal, onBytes);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof InstallError || left <= 1) throw error;
      await Bun.sleep(BACKOFF_MS);
    }
  }
}

/** @throws InstallError when the registry has no such package, or one with another digest */
async function download(
  url: string,
  pack: Package,
  file: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const stalled = new AbortController();
  let timer = setTimeout(() => stalled.abort(), STALL_MS);
  const out = createWriteStream(file);
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, stalled.signal]) });
    if (response.status === 404 || response.status === 410)
      throw new InstallError(`${new URL(url).host} has no ${pack.name} ${pack.version}.`);
    if (!response.ok || !response.body) throw new Error(`HTTP status ${response.status}`);
    const hash = new Bun.CryptoHasher("sha512");
    let bytes = 0;
    for await (const piece of response.body) {
      clearTimeout(timer);
      timer = setTimeout(() => stalled.abort(), STALL_MS);
      bytes += piece.length;
      if (bytes > pack.bytes) break;
      hash.update(piece);
      await write(out, piece);
      onBytes(bytes);
    }
    if (bytes < pack.bytes) throw new Error("the response is incomplete");
    if (`sha512-${hash.digest("base64")}` !== pack.integrity)
      throw new InstallError(
        `${pack.name} ${pack.version} from ${new URL(url).host} is not the package that svc was built for. It was deleted.`,
      );
  } catch (error) {
    if (stalled.signal.aborted) throw new Error("timed out");
    throw error;
  } finally {
    clearTimeout(timer);
    await new Promise((closed) => out.end(closed));
  }
}

async function write(out: WriteStream, piece: Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    out.write(piece, (error) => (error ? reject(error) : resolve())),
  );
}

/** Extracts the files of a tarball from npm, which are in one top-level folder. */
async function unpack(file: string, into: string): Promise<void> {
  const source = createReadStream(file).pipe(createGunzip());
  for await (const { header, pieces } of entriesOf(source)) {
    const path = header.name.split("/").slice(1);
    const isWanted = header.type === "file" && !header.name.endsWith(".map");
    if (path.some((part) => ["", ".", ".."].includes(part) || part.includes("\\")))
      throw new InstallError("A package contains a file with an invalid name.");
    if (!isWanted) {
      for await (const _ of pieces);
      continue;
    }
    const target = join(into, ...path);
    await mkdir(dirname(target), { recursive: true });
    const mode = (header.mode ?? 0) & 0o100 ? 0o755 : 0o644;
    await pipeline(pieces, createWriteStream(target, { mode }));
  }
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
