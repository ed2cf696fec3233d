import {
  ARCHIVE_BYTES_MAX,
  archiveName,
  type Platform,
  type Program,
  RELEASE_PUBLIC_KEY,
  ReleaseError,
  readSignedSums,
  SIGNATURE_FILE,
  SUMS_BYTES_MAX,
  SUMS_FILE,
} from "../../src/contract/release.ts";
import { CliError } from "../failure.ts";
import type { System } from "../system.ts";
import { download } from "./download.ts";
import type { InstallRecord } from "./record.ts";

type Source = Pick<InstallRecord, "source" | "publicKey">;

interface Wanted {
  program: Program;
  version: string;
  platform: Platform;
}

/**
 * Downloads an archive from the server that svc was installed from, and verifies signature and checksum.
 * @throws CliError `update_failed`, and as `download`
 */
export async function downloadArchive(
  system: Pick<System, "fetch">,
  from: Source,
  { program, version, platform }: Wanted,
): Promise<Uint8Array> {
  const base = `${from.source}/releases/${version}`;
  const name = archiveName(program, version, platform);
  const digest = await signedDigest(system, from, base, name);
  const archive = await download(system, `${base}/${name}`, { maxBytes: ARCHIVE_BYTES_MAX[program] });
  if (new Bun.CryptoHasher("sha256").update(archive).digest("hex") === digest) return archive;
  throw new CliError("update_failed", `The checksum of ${name} is wrong. Nothing was changed.`, {
    hint: "The download is damaged or was changed. Run the command again; if it stays, contact the operator of the server.",
  });
}

/** The digest of an archive, from the list of sums that the pinned key signed. */
async function signedDigest(
  system: Pick<System, "fetch">,
  from: Source,
  base: string,
  name: string,
): Promise<string> {
  const key = keyOf(from);
  const limits = {
    maxBytes: SUMS_BYTES_MAX,
    missing: "The server does not have this version. `svc update --check` prints its newest.",
  };
  const sums = await download(system, `${base}/${SUMS_FILE}`, limits);
  const signature = await download(system, `${base}/${SIGNATURE_FILE}`, limits);
  try {
    const digest = (await readSignedSums(sums, new TextDecoder().decode(signature), key)).get(name);
    if (digest !== undefined) return digest;
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    throw new CliError("update_failed", `${error.message} Nothing was changed.`, {
      hint: `The release was changed, or its server signs with another key now: ask the operator of ${from.source}. If the key has changed, run its install script again.`,
    });
  }
  throw new CliError("update_failed", `The release does not contain ${name}. Nothing was changed.`, {
    hint: `${base}/${SUMS_FILE} lists its files.`,
  });
}

/** The key that install.sh pinned for this server, else the one that this build trusts. */
function keyOf({ publicKey, source }: Source): string {
  if (publicKey !== null) return `-----BEGIN PUBLIC KEY-----\n${publicKey}\n-----END PUBLIC KEY-----\n`;
  if (RELEASE_PUBLIC_KEY !== null) return RELEASE_PUBLIC_KEY;
  throw new CliError(
    "update_failed",
    "This build has no release key, and none was recorded when it was installed.",
    {
      hint: `Run the install script of the server, which pins its key: curl -fsSL ${source}/install.sh | sh`,
    },
  );
}
