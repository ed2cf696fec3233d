import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  ARCHIVE_BYTES_MAX,
  archiveName,
  filesInArchive,
  type Platform,
  PROGRAM_PLATFORMS,
  type Program,
  RELEASE_PUBLIC_KEY,
  ReleaseError,
  readSignedSums,
  SIGNATURE_FILE,
  SUMS_BYTES_MAX,
  SUMS_FILE,
  type Sums,
} from "../../../src/contract/release.ts";
import { VERSION } from "../../../src/contract/version.ts";
import { isRecord } from "../../config.ts";
import { CliError, systemCode } from "../../failure.ts";
import type { System } from "../../system.ts";
import type { Stack } from "./stack.ts";

type Host = Pick<System, "env" | "fetch">;

/** The server that this svc was installed from. */
interface Source {
  url: string;
  publicKey: string;
}

/** The largest archive at 75 kB/s. */
const DOWNLOAD_MS = 10 * 60_000;
/** The largest program is half as large. */
const TAR_MAX_BYTES = 400_000_000;
const UNPACK_MS = 120_000;
const PYTHON = "import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)";
/** Programs that decompress xz; Bun cannot. Debian without xz has the second, which apt needs. */
const DECOMPRESSORS = [
  ["xz", "--decompress", "--stdout"],
  ["/usr/lib/apt/apt-helper", "cat-file"],
  ["python3", "-c", PYTHON],
] as const;
const BY_HAND = "Name the program with `--api-binary <path>`.";

/**
 * Downloads programs of this svc's own version into the stack's `bin`, from the server that svc was installed from, after
 * verifying signature and checksum.
 * @throws CliError `self_host` with what to do instead
 */
export async function downloadPrograms(
  system: Host,
  stack: Stack,
  programs: readonly Program[],
): Promise<void> {
  const platform = process.arch === "arm64" ? "linux-arm64" : "linux-x64";
  const source = await readSource(system);
  const folder = `${source.url}/releases/${VERSION}`;
  const sums = await readSums(system, folder, source.publicKey);
  await mkdir(stack.bin, { recursive: true, mode: 0o700 });
  for (const program of programs) await downloadProgram(system, stack, { folder, sums, program, platform });
}

/** Whether releases have svc-api for this system. */
export const hasRelease = (): boolean =>
  process.platform === "linux" && PROGRAM_PLATFORMS["svc-api"].some((name) => name.endsWith(process.arch));

interface Wanted {
  folder: string;
  sums: Sums;
  program: Program;
  platform: Platform;
}

async function downloadProgram(
  system: Host,
  stack: Stack,
  { folder, sums, program, platform }: Wanted,
): Promise<void> {
  const name = archiveName(program, VERSION, platform);
  const wanted = sums.get(name);
  if (wanted === undefined) throw failed(`The release at ${folder} has no ${name}.`);
  const archive = await download(system, `${folder}/${name}`, ARCHIVE_BYTES_MAX);
  if (createHash("sha256").update(archive).digest("hex") !== wanted) {
    throw failed(`The file ${name} of the release is damaged: its checksum is another one.`);
  }
  const file = join(stack.bin, `${name}.${process.pid}`);
  try {
    await writeFile(file, archive, { mode: 0o600 });
    const files = await new Bun.Archive(await decompress(file)).files();
    for (const member of filesInArchive(program, platform).filter((each) => each !== "LICENSE")) {
      const content = files.get(member) ?? files.get(program);
      if (content === undefined) throw failed(`The file ${name} of the release is incomplete.`);
      await writeFile(`${file}.new`, await content.bytes());
      await chmod(`${file}.new`, 0o755);
      await rename(`${file}.new`, join(stack.bin, member));
    }
  } finally {
    await rm(file, { force: true });
    await rm(`${file}.new`, { force: true });
  }
}

async function readSums(system: Host, folder: string, publicKey: string): Promise<Sums> {
  const [bytes, signature] = await Promise.all([
    download(system, `${folder}/${SUMS_FILE}`, SUMS_BYTES_MAX),
    download(system, `${folder}/${SIGNATURE_FILE}`, SUMS_BYTES_MAX),
  ]);
  try {
    return await readSignedSums(bytes, new TextDecoder().decode(signature), publicKey);
  } catch (error) {
    throw error instanceof ReleaseError ? failed(error.message) : error;
  }
}

async function download({ fetch }: Host, url: string, maxBytes: number): Promise<Uint8Array> {
  try {
    const signal = AbortSignal.timeout(DOWNLOAD_MS);
    const response = await fetch(url, { signal, headers: { "User-Agent": `svc/${VERSION}` } });
    if (!response.ok) throw failed(`${url} answered with status ${response.status}.`);
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      size += part.byteLength;
      if (size > maxBytes) throw failed(`${url} is larger than ${maxBytes} bytes.`);
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw failed(`Cannot download ${url} (${systemCode(error) ?? "no answer"}).`);
  }
}

async function decompress(archive: string): Promise<Uint8Array> {
  for (const [name, ...args] of DECOMPRESSORS) {
    const program = Bun.which(name);
    if (program === null) continue;
    const child = Bun.spawn([program, ...args, archive], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: UNPACK_MS,
      maxBuffer: TAR_MAX_BYTES,
    });
    const tar = await new Response(child.stdout).bytes();
    if ((await child.exited) === 0) return tar;
  }
  throw new CliError("self_host", "The archive of svc-api cannot be unpacked here.", {
    hint: `Install xz (on Debian: apt install xz-utils). ${BY_HAND}`,
  });
}

/** From the record that install.sh writes. @throws CliError `self_host` if svc was installed in another way */
async function readSource({ env }: Host): Promise<Source> {
  const text = await readFile(join(env["HOME"] || homedir(), ".svc", "install.json"), "utf8").catch(() => "");
  const record = parse(text);
  const { source, public_key: key } = record;
  if (typeof source !== "string" || !/^https?:\/\//.test(source)) {
    throw failed(
      "svc-api is neither beside svc nor on the PATH, and there is no record of where svc was installed from.",
    );
  }
  const publicKey = typeof key === "string" ? toPem(key) : RELEASE_PUBLIC_KEY;
  if (publicKey === null) throw failed("svc-api cannot be downloaded: this build of svc has no release key.");
  return { url: source.replace(/\/+$/, ""), publicKey };
}

function parse(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** The record has the key without PEM's first and last line. */
const toPem = (key: string): string =>
  key.startsWith("-----") ? key : `-----BEGIN PUBLIC KEY-----\n${key}\n-----END PUBLIC KEY-----\n`;

const failed = (message: string): CliError => new CliError("self_host", message, { hint: BY_HAND });
