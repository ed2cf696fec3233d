import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { compareVersions, isVersion } from "../../../src/contract/release.ts";
import { VERSION } from "../../../src/contract/version.ts";
import type { Context } from "../../context.ts";
import { CliError, systemCode, usage } from "../../failure.ts";
import { downloadArchive } from "../../install/download-archive.ts";
import { extract } from "../../install/extract.ts";
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
import { oneLine } from "../../text.ts";

/** Longer than any update: what an interrupted one left behind is not in use. */
const LEFTOVER_MS = 3_600_000;

type Action = "current" | "available" | "ahead" | "updated" | "rolled_back";

export const update: Handler<typeof table.update> = async (context, { flags }) => {
  const { check, rollback, version: wanted } = flags;
  if ([check, rollback, wanted !== undefined].filter(Boolean).length > 1)
    throw usage("--check, --rollback and --version are different actions: give one of them.");
  if (wanted !== undefined && !isVersion(wanted))
    throw usage(`--version must be a version such as ${VERSION}, not ${oneLine(wanted).slice(0, 80)}.`);
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
  await out.note(`Downloading svc ${version} for ${record.platform} from ${record.source} …`);
  const archive = await downloadArchive(system, record, {
    program: "svc",
    version,
    platform: record.platform,
  });
  const path = besides(record.program, ".tar.xz");
  try {
    await writeFile(path, archive, { flag: "wx", mode: 0o600 });
    const [program] = await extract(path, ["svc"]);
    await replaceProgram(record.program, program, version);
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
