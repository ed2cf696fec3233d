import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  ARCHIVE_BYTES_MAX,
  archiveName,
  compareVersions,
  isVersion,
  RELEASE_PUBLIC_KEY,
  ReleaseError,
  readSignedSums,
  SIGNATURE_FILE,
  SUMS_BYTES_MAX,
  SUMS_FILE,
} from "../../../src/contract/release.ts";
import { VERSION } from "../../../src/contract/version.ts";
import type { Context } from "../../context.ts";
import { CliError, systemCode, usage } from "../../failure.ts";
import { download } from "../../install/download.ts";
import { extractProgram } from "../../install/extract.ts";
import { requireInstallation, requireWritable } from "../../install/installation.ts";
import { latestVersion } from "../../install/latest.ts";
import { type InstallRecord, recordVersion } from "../../install/record.ts";
import {
  besides,
  exchangePrevious,
  LEFTOVER,
  previousOf,
  replaceProgram,
} from "../../install/replace-program.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/install.ts";

/** Longer than any update: what an interrupted one left behind is not in use. */
const LEFTOVER_MS = 3_600_000;

type Action = "current" | "available" | "ahead" | "updated" | "rolled_back";

export const update: Handler<typeof table.update> = async (context, { flags }) => {
  const { check, rollback, version: wanted } = flags;
  if ([check, rollback, wanted !== undefined].filter(Boolean).length > 1)
    throw usage("--check, --rollback and --version are different actions: give one of them.");
  if (wanted !== undefined && !isVersion(wanted)) throw usage(`Not a version: ${wanted}`);
  const record = await requireInstallation(context.system, "update");
  if (rollback) return rollBack(context, record);
  const version = wanted ?? (await latestVersion(context.system, record.source));
  const order = compareVersions(version, VERSION);
  if (wanted === undefined && (check || order <= 0)) {
    const action = order > 0 ? "available" : order < 0 ? "ahead" : "current";
    if (!check) await recordVersion(context.system, VERSION);
    return answer(context, record, { action, version, previous: null });
  }
  requireWritable(record.program);
  await install(context, record, version);
  await recordVersion(context.system, version);
  await removeLeftovers(dirname(record.program));
  await answer(context, record, { action: "updated", version, previous: VERSION });
};

async function rollBack(context: Context, record: InstallRecord): Promise<void> {
  const previous = previousOf(record.program);
  if (!(await stat(previous).catch(() => null)))
    throw new CliError("update_failed", `There is no earlier version: ${previous} does not exist.`, {
      hint: "Install one of the server's versions with `svc update --version <version>`.",
    });
  requireWritable(record.program);
  const version = await exchangePrevious(record.program);
  await recordVersion(context.system, version);
  await answer(context, record, { action: "rolled_back", version, previous: VERSION });
}

async function install(context: Context, record: InstallRecord, version: string): Promise<void> {
  const { system, out } = context;
  const base = `${record.source}/releases/${version}`;
  const name = archiveName("svc", version, record.platform);
  await out.note(`Downloading svc ${version} for ${record.platform} from ${record.source} …`);
  const digest = await signedDigest(system, base, name, record);
  const archive = await download(system, `${base}/${name}`, { maxBytes: ARCHIVE_BYTES_MAX });
  if (new Bun.CryptoHasher("sha256").update(archive).digest("hex") !== digest)
    throw new CliError("update_failed", `The checksum of ${name} is wrong. Nothing was changed.`, {
      hint: "The download is damaged or was changed. Run svc update again; if it stays, contact the operator of the server.",
    });
  const path = besides(record.program, ".tar.xz");
  try {
    await writeFile(path, archive, { flag: "wx", mode: 0o600 });
    await replaceProgram(record.program, await extractProgram(path), version);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      "update_failed",
      `Cannot replace ${record.program} (${systemCode(error) ?? "unknown error"}).`,
    );
  } finally {
    await rm(path, { force: true });
  }
}

/** The digest of an archive, from the list of sums that the pinned key signed. @throws CliError `update_failed` */
async function signedDigest(
  system: Context["system"],
  base: string,
  name: string,
  record: InstallRecord,
): Promise<string> {
  const key = keyOf(record);
  const limits = { maxBytes: SUMS_BYTES_MAX };
  const sums = await download(system, `${base}/${SUMS_FILE}`, limits);
  const signature = await download(system, `${base}/${SIGNATURE_FILE}`, limits);
  try {
    const digest = (await readSignedSums(sums, new TextDecoder().decode(signature), key)).get(name);
    if (digest !== undefined) return digest;
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    throw new CliError("update_failed", `${error.message} Nothing was changed.`, {
      hint: `The release was changed, or its server signs with another key now: ask the operator of ${record.source}. If the key has changed, run its install script again.`,
    });
  }
  throw new CliError("update_failed", `The release does not contain ${name}. Nothing was changed.`, {
    hint: `${base}/${SUMS_FILE} lists its files.`,
  });
}

/** The key that install.sh pinned for this server, else the one that this build trusts. */
function keyOf({ publicKey, source }: InstallRecord): string {
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

/** Removes what interrupted updates left behind. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((each) => LEFTOVER.test(each))) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found && Date.now() - found.mtimeMs > LEFTOVER_MS) await rm(path, { recursive: true, force: true });
  }
}

async function answer(
  { out }: Context,
  { program, source }: InstallRecord,
  { action, version, previous }: { action: Action; version: string; previous: string | null },
): Promise<void> {
  const sentences: Record<Action, string> = {
    current: `svc ${version} is the newest version.`,
    available: `svc ${version} is available (this is ${VERSION}). Run: svc update`,
    ahead: `This is svc ${VERSION}; the newest version of ${source} is ${version}. To install that: svc update --version ${version}`,
    updated: `Updated svc from ${previous} to ${version}. To undo: svc update --rollback`,
    rolled_back: `Returned from svc ${previous} to ${version}.`,
  };
  await out.result(
    { action, version, previous_version: previous, path: program, source },
    () => `${sentences[action]}\n`,
  );
}
