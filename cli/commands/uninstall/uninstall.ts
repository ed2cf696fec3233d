import { lstat, readdir, readFile, readlink, realpath, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { configPath, readConfig } from "../../config.ts";
import { replace, updateConfig } from "../../config-write.ts";
import type { Context } from "../../context.ts";
import { CliError, systemCode, usage } from "../../failure.ts";
import { requireInstallation, requireWritable } from "../../install/installation.ts";
import { statePath } from "../../install/notice.ts";
import { homeFolder, type InstallRecord, recordPath } from "../../install/record.ts";
import { LEFTOVER, previousOf } from "../../install/replace-program.ts";
import type { Handler } from "../../spec.ts";
import type { System } from "../../system.ts";
import type * as table from "../../table/install.ts";
import { oneLine } from "../../text.ts";

/** What was removed, what stays, and what could not be removed: paths. */
interface Report {
  removed: string[];
  kept: string[];
  failed: string[];
}

export const uninstall: Handler<typeof table.uninstall> = async (context, { flags }) => {
  const { system, out } = context;
  const record = await requireInstallation(system, "uninstall");
  requireWritable(record.program);
  const tokens = flags["keep-auth"] ? [] : await hostsWithTokens(system);
  await requireConsent(context, record, tokens, flags.yes);
  const report: Report = { removed: [], kept: [], failed: [] };
  if (tokens.length > 0) await removeTokens(system);
  await removePathLine(record, report);
  for (const link of record.links) await removeLink(link, record.program, report);
  await remove(statePath(system), report);
  await remove(previousOf(record.program), report);
  // last what a second attempt would need
  await remove(record.program, report);
  await remove(recordPath(system), report);
  await removeFolders(system, record, flags["keep-home"], report);
  await out.result({ ...report, signed_out: tokens }, () => sentences(report, tokens));
};

async function hostsWithTokens(system: System): Promise<string[]> {
  const { hosts } = await readConfig(configPath(system));
  return Object.entries(hosts).flatMap(([name, { token }]) => (token === undefined ? [] : [name]));
}

async function requireConsent(
  context: Context,
  { program, links }: InstallRecord,
  tokens: readonly string[],
  yes: boolean,
): Promise<void> {
  if (yes) return;
  if (!context.canAsk()) throw usage("svc uninstall needs --yes when it cannot ask.", "svc uninstall --yes");
  const { confirm } = await import("../../prompt.ts");
  const also = tokens.length > 0 ? ` and the tokens of ${tokens.join(", ")}` : "";
  if (await confirm(`Remove ${[program, ...links].join(", ")}${also}?`)) return;
  throw new CliError("cancelled", "Cancelled; nothing was changed.");
}

async function removeTokens(system: System): Promise<void> {
  await updateConfig(configPath(system), (config) => {
    const hosts = Object.entries(config.hosts).map(([name, entry]) => {
      const { token: _, user_email: __, account_id: ___, ...rest } = entry;
      return [name, rest] as const;
    });
    return { ...config, hosts: Object.fromEntries(hosts) };
  });
}

/** Removes the one line that install.sh added, if it is still there. */
async function removePathLine({ pathLine }: InstallRecord, report: Report): Promise<void> {
  if (pathLine === null) return;
  // often a link into a repository of such files
  const path = await realpath(pathLine.file).catch(() => null);
  if (path === null) return;
  try {
    const lines = (await readFile(path, "utf8")).split("\n");
    const at = lines.lastIndexOf(pathLine.line);
    if (at < 0) return;
    await replace(path, lines.toSpliced(at, 1).join("\n"), (await stat(path)).mode & 0o777);
    report.removed.push(`${pathLine.file}: ${pathLine.line}`);
  } catch {
    report.failed.push(pathLine.file);
  }
}

/** A link that points elsewhere now belongs to another installation. */
async function removeLink(link: string, program: string, report: Report): Promise<void> {
  if ((await readlink(link).catch(() => null)) === program) await remove(link, report);
  else if (await lstat(link).catch(() => null)) report.kept.push(link);
}

async function remove(path: string, report: Report): Promise<void> {
  try {
    await rm(path);
    report.removed.push(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") report.failed.push(path);
  }
}

/** Removes the folders that are empty now: what the installation did not record stays, such as a self-hosted server. */
async function removeFolders(
  system: System,
  { program }: InstallRecord,
  keepHome: boolean,
  report: Report,
): Promise<void> {
  const [folder, home] = [dirname(program), homeFolder(system)];
  for (const name of await readdir(folder).catch(() => []))
    if (LEFTOVER.test(name)) await rm(join(folder, name), { recursive: true, force: true });
  await rmdir(dirname(statePath(system))).catch(() => {});
  if (keepHome) return;
  for (const path of folder === join(home, "bin") ? [folder, home] : [home]) {
    const left = await readdir(path).catch(() => null);
    if (left === null) continue;
    if (left.length > 0)
      report.kept.push(...left.map((name) => join(path, name)).filter((each) => each !== folder));
    else await rmdir(path).then(() => report.removed.push(path));
  }
}

function sentences({ removed, kept, failed }: Report, tokens: readonly string[]): string {
  return [
    ...removed.map((path) => `Removed ${oneLine(path)}`),
    ...tokens.map(
      (name) => `Removed the token of ${name}, which stays valid on its server until it is revoked`,
    ),
    ...kept.map((path) => `Kept ${oneLine(path)}, which the installation did not create`),
    ...failed.map((path) => `Could not remove ${oneLine(path)}: remove it yourself`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}
