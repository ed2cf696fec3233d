import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  compareVersions,
  formatSums,
  isVersion,
  KEY_FILE,
  LATEST_FILE,
  SIGNATURE_FILE,
  SUMS_FILE,
} from "../../src/contract/release.ts";
import type { SigningKey } from "./key.ts";

/**
 * Writes the folder of a version, with checksums and signature, then the files beside it. A folder of the same version
 * is replaced; the new one is complete when it appears.
 * @param releases the folder of all releases
 * @param files the files by name
 */
export function publishRelease(
  releases: string,
  version: string,
  files: ReadonlyMap<string, Uint8Array>,
  key: SigningKey,
): void {
  const unfinished = join(releases, `.${version}-${randomUUID()}`);
  mkdirSync(unfinished, { recursive: true });
  try {
    for (const [name, bytes] of files) writeFileSync(join(unfinished, name), bytes);
    const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
    const sums = Buffer.from(formatSums(new Map([...files].map(([name, bytes]) => [name, digest(bytes)]))));
    writeFileSync(join(unfinished, SUMS_FILE), sums);
    writeFileSync(join(unfinished, SIGNATURE_FILE), key.sign(sums));
    rmSync(join(releases, version), { recursive: true, force: true });
    renameSync(unfinished, join(releases, version));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  replace(join(releases, KEY_FILE), key.publicKey);
  replace(join(releases, LATEST_FILE), `${newest(version, join(releases, LATEST_FILE))}\n`);
}

function newest(version: string, latest: string): string {
  const known = existsSync(latest) ? readFileSync(latest, "utf8").trim() : "";
  return isVersion(known) && compareVersions(known, version) > 0 ? known : version;
}

/** A server may read the file at any time. */
function replace(path: string, text: string): void {
  const unfinished = `${path}.${randomUUID()}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}
