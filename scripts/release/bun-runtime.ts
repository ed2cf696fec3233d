import { createHash, randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { extract } from "tar-stream";
import type { Platform } from "../../src/contract/release.ts";
import checksums from "../bun-runtimes.json" with { type: "json" };
import { run } from "../run.ts";
import { ReleaseBuildError } from "./failure.ts";
import { BUN_NAMES } from "./targets.ts";

/** The unpacked package has about 115 MB. */
const RUNTIME_BYTES_MAX = 300_000_000;

/**
 * The Bun that a platform's programs contain: the npm package whose checksum is in `bun-runtimes.json`, downloaded once
 * into the cache folder, where `with-bun.mjs` also keeps its own.
 * @returns the path of the program
 * @throws ReleaseBuildError
 */
export async function bunRuntime(platform: Platform): Promise<string> {
  const { runtime } = BUN_NAMES[platform];
  const name = `@oven/bun-${runtime}`;
  const program = platform.startsWith("windows-") ? "bun.exe" : "bun";
  const folder = join(cacheFolder(), `bun-${Bun.version}-${runtime}`);
  const path = join(folder, "node_modules", name, "bin", program);
  if (existsSync(path)) return path;

  process.stderr.write(`svc: downloading ${name} ${Bun.version} (once) …\n`);
  const bytes = await fileOfPackage(await download(name), `package/bin/${program}`);
  const unfinished = `${folder}.${randomUUID()}`;
  const inside = join(unfinished, "node_modules", name, "bin", program);
  try {
    mkdirSync(dirname(inside), { recursive: true });
    await Bun.write(inside, bytes);
    chmodSync(inside, 0o755);
    renameSync(unfinished, folder);
  } catch (error) {
    // another process was faster
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return path;
}

/** The tarball of a package, with the checksum of `bun-runtimes.json`. */
async function download(name: string): Promise<Uint8Array> {
  const folder = join(tmpdir(), `svc-release-${randomUUID()}`);
  mkdirSync(folder);
  try {
    const packed = await run([
      "npm",
      "pack",
      "--silent",
      `--pack-destination=${folder}`,
      `${name}@${Bun.version}`,
    ]);
    const [file] = readdirSync(folder);
    if (packed.code !== 0 || !file)
      throw new ReleaseBuildError(`npm cannot download ${name} ${Bun.version}: ${packed.err.trim()}`);
    const bytes = await Bun.file(join(folder, file)).bytes();
    const digest = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
    if (Reflect.get(checksums, name) !== digest)
      throw new ReleaseBuildError(`${name} ${Bun.version} is not the package of scripts/bun-runtimes.json.`);
    return bytes;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fileOfPackage(tarball: Uint8Array, wanted: string): Promise<Uint8Array> {
  const files = extract();
  files.end(gunzipSync(tarball, { maxOutputLength: RUNTIME_BYTES_MAX }));
  for await (const file of files) {
    const bytes = await buffer(file);
    if (file.header.name === wanted) return bytes;
  }
  throw new ReleaseBuildError(`the package of Bun has no ${wanted}.`);
}

/** As in `with-bun.mjs`, which cannot be imported. */
function cacheFolder(): string {
  if (process.platform === "win32")
    return join(process.env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local"), "svc", "cache");
  if (process.platform === "darwin") return join(homedir(), "Library", "Caches", "svc");
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "svc");
}
