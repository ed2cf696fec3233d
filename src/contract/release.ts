/** A platform that releases have programs for: system, processor and, on Linux, the C library. */
export const PLATFORMS = [
  "linux-x64",
  "linux-x64-musl",
  "linux-arm64",
  "linux-arm64-musl",
  "macos-arm64",
  "macos-x64",
  "windows-x64",
] as const;
export type Platform = (typeof PLATFORMS)[number];

export type Program = "svc" | "svc-api" | "svc-agent";

/** The platforms of each program. A sandbox runs Linux; svc-api needs glibc. */
export const PROGRAM_PLATFORMS: Readonly<Record<Program, readonly Platform[]>> = {
  svc: PLATFORMS,
  "svc-api": ["linux-x64", "linux-arm64"],
  "svc-agent": ["linux-x64", "linux-x64-musl", "linux-arm64", "linux-arm64-musl"],
};

/** The files of a release folder `<releases>/<version>/` beside its archives. */
export const SUMS_FILE = "SHA256SUMS";
/** The Ed25519 signature of `SUMS_FILE`: 64 bytes in base64, on one line. */
export const SIGNATURE_FILE = "SHA256SUMS.sig";
/** The bill of materials, in CycloneDX JSON. */
export const SBOM_FILE = "sbom.cdx.json";
/** In `<releases>/`: the newest version and a newline. */
export const LATEST_FILE = "latest";
/** In `<releases>/`: the public key of the releases, in PEM. */
export const KEY_FILE = "release-key.pub";

/** Archives are tars compressed with xz: gzip, or zip on Windows, would need more than 50 MB. */
const ARCHIVE_SUFFIX = ".tar.xz";
/** The limits of archives, which the release build checks and a download stops at. svc-api contains a database: 20 MB that hardly compress. */
export const ARCHIVE_BYTES_MAX: Readonly<Record<Program, number>> = {
  svc: 45_000_000,
  "svc-agent": 45_000_000,
  "svc-api": 65_000_000,
};
/** Limits of `SUMS_FILE`. A release has 15 files of about 100 bytes a line. */
export const SUMS_BYTES_MAX = 64 * 1024;
const SUMS_LINES_MAX = 500;
const VERSION_LENGTH_MAX = 64;

const VERSION =
  /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?$/;
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** A line of sha256sum: 64 digits, two spaces, the name. */
const SUM = /^([0-9a-f]{64}) {2}(.+)$/;
const SIGNATURE = /^([A-Za-z0-9+/]{86}==)\n?$/;
/** The DER form of an Ed25519 public key has 44 bytes (RFC 8410): this prefix in base64, then 32 bytes of key. */
const PUBLIC_KEY =
  /^-----BEGIN PUBLIC KEY-----\r?\n(MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=)\r?\n-----END PUBLIC KEY-----\s*$/;

// replaced by the release build (--define)
declare const SVC_BUILD_RELEASE_KEY: unknown;

/** The public key (PEM) that this build trusts releases of; null in a build from source, which has none. */
export const RELEASE_PUBLIC_KEY: string | null =
  typeof SVC_BUILD_RELEASE_KEY === "string" ? SVC_BUILD_RELEASE_KEY : null;

/** A release whose files or signature are not what they must be. The message is a sentence for users. */
export class ReleaseError extends Error {
  override readonly name = "ReleaseError";
}

/** The digests of a release's files by name: SHA-256 in lowercase hexadecimal. */
export type Sums = ReadonlyMap<string, string>;

/** `svc-1.2.3-linux-x64.tar.xz`; at its top are `filesInArchive`. */
export function archiveName(program: Program, version: string, platform: Platform): string {
  return `${program}-${version}-${platform}${ARCHIVE_SUFFIX}`;
}

/** The names in an archive: the program first. `svc-entrypoint` is a hard link to `svc-agent`. */
export function filesInArchive(program: Program, platform: Platform): string[] {
  const suffix = platform.startsWith("windows-") ? ".exe" : "";
  return [`${program}${suffix}`, ...(program === "svc-agent" ? ["svc-entrypoint"] : []), "LICENSE"];
}

/**
 * The platform of a machine, from `process.platform`, `process.arch` and its C library.
 * @returns null if releases have no programs for it
 */
export function platformOf(system: string, processor: string, isMusl: boolean): Platform | null {
  const name = { linux: "linux", darwin: "macos", win32: "windows" }[system];
  const wanted = `${name}-${processor}${name === "linux" && isMusl ? "-musl" : ""}`;
  return PLATFORMS.find((platform) => platform === wanted) ?? null;
}

/** Whether a text is a version of a release: semver 2.0 without build metadata, so that it is also a folder's name. */
export function isVersion(text: string): boolean {
  return text.length <= VERSION_LENGTH_MAX && VERSION.test(text);
}

/** Whether a text can name a file of a release: no path, not hidden. */
export function isReleaseFileName(text: string): boolean {
  return FILE_NAME.test(text);
}

/**
 * The precedence of two versions (semver 2.0, 11).
 * @returns negative if `a` is older, positive if it is newer, else 0
 * @throws ReleaseError
 */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [partsOf(a), partsOf(b)];
  for (const [i, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(one.prerelease, other.prerelease);
}

function partsOf(version: string): { numbers: number[]; prerelease: string[] } {
  const found = isVersion(version) ? VERSION.exec(version) : null;
  if (!found) throw new ReleaseError(`${quote(version)} is not a version such as 1.2.3 or 1.2.3-beta.1.`);
  return { numbers: found.slice(1, 4).map(Number), prerelease: found[4]?.split(".") ?? [] };
}

function comparePrereleases(a: readonly string[], b: readonly string[]): number {
  // a release is newer than its prereleases
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [i, one] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    const difference = compareIdentifiers(one, other);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Numbers by value, words by character code; a number is older than a word. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, otherIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber !== otherIsNumber) return isNumber ? -1 : 1;
  // without leading zeros the longer number is the larger one, at any length
  if (isNumber && a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The text of `SUMS_FILE`, which `sha256sum -c` reads: sorted by name. */
export function formatSums(sums: Sums): string {
  return [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, digest]) => `${digest}  ${name}\n`)
    .join("");
}

/**
 * Reads `SUMS_FILE` of a release whose signature has been verified: `readSignedSums` does both.
 * @throws ReleaseError
 */
export function parseSums(text: string): Sums {
  const lines = text.split("\n");
  if (text.length > SUMS_BYTES_MAX || lines.length > SUMS_LINES_MAX)
    throw new ReleaseError(`${SUMS_FILE} of the release is too large.`);
  if (lines.pop() !== "" || lines.length === 0)
    throw new ReleaseError(`${SUMS_FILE} of the release is incomplete.`);
  const sums = new Map<string, string>();
  for (const [i, line] of lines.entries()) {
    const [, digest = "", name = ""] = SUM.exec(line) ?? [];
    if (!isReleaseFileName(name) || sums.has(name))
      throw new ReleaseError(
        `Line ${i + 1} of ${SUMS_FILE} is not a checksum and a file's name, or is repeated.`,
      );
    sums.set(name, digest);
  }
  return sums;
}

/**
 * Verifies the signature of `SUMS_FILE`, then reads it.
 * @param bytes the file, as downloaded
 * @param signature the text of `SIGNATURE_FILE`
 * @param publicKey the trusted key, in PEM
 * @throws ReleaseError
 */
export async function readSignedSums(bytes: Uint8Array, signature: string, publicKey: string): Promise<Sums> {
  if (bytes.length > SUMS_BYTES_MAX) throw new ReleaseError(`${SUMS_FILE} of the release is too large.`);
  const key = await importPublicKey(publicKey);
  const encoded = SIGNATURE.exec(signature)?.[1];
  if (encoded === undefined) throw new ReleaseError(`${SIGNATURE_FILE} of the release is not a signature.`);
  if (!(await crypto.subtle.verify("Ed25519", key, fromBase64(encoded), new Uint8Array(bytes))))
    throw new ReleaseError(
      `The signature of the release is not by the trusted key: nothing of it may be installed.`,
    );
  return parseSums(new TextDecoder().decode(bytes));
}

/** Whether a text is an Ed25519 public key in PEM. */
export function isPublicKey(text: string): boolean {
  return PUBLIC_KEY.test(text);
}

async function importPublicKey(pem: string): Promise<CryptoKey> {
  const encoded = PUBLIC_KEY.exec(pem)?.[1];
  if (encoded === undefined) throw new ReleaseError("The release key is not an Ed25519 public key in PEM.");
  return crypto.subtle.importKey("spki", fromBase64(encoded), "Ed25519", false, ["verify"]);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Text from outside, for an error message: short, and without control characters. */
function quote(text: string): string {
  return JSON.stringify(text.length > VERSION_LENGTH_MAX ? `${text.slice(0, VERSION_LENGTH_MAX)}…` : text);
}
