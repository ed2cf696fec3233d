import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Program } from "../../../src/contract/release.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { downloadPrograms, hasRelease } from "./download-programs.ts";
import { findPrograms, installPrograms, PROGRAMS, type Programs, versionOf } from "./programs.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

/**
 * Puts the programs of the server into the stack's `bin`: those of this machine, those of an earlier start, or else those
 * of the release that this svc was installed from.
 * @returns the version of svc-api; empty if this system cannot run it, but a container can
 * @throws CliError `self_host` with what to do
 */
export async function providePrograms(
  context: Context,
  stack: Stack,
  apiBinary: string | undefined,
  mode: State["mode"],
): Promise<string> {
  const { system, out } = context;
  const isForeign = mode === "compose" && process.platform !== "linux";
  // the programs of another system are of no use in a container
  const found = isForeign && apiBinary === undefined ? null : await findPrograms(system, apiBinary);
  const api = join(stack.bin, "svc-api");
  const kept = apiBinary === undefined && existsSync(api) ? api : null;
  if (kept === null && found === null) await fetchPrograms(context, stack, isForeign);
  else if (found !== null && (kept === null || (await isRefresh(context, kept, found)))) {
    await installPrograms(stack, found);
  }
  const missing = PROGRAMS.filter((name) => !existsSync(join(stack.bin, name)));
  if (missing.length > 0) {
    await out.warn(`Sessions cannot start: ${missing.join(" and ")} not found beside svc-api.`);
  }
  return isForeign ? "" : versionOf(system, api);
}

/**
 * Whether the programs of this machine have the version of those that the server has. Only an update, which makes a backup
 * before, changes the version.
 */
async function isRefresh({ system, out }: Context, kept: string, found: Programs): Promise<boolean> {
  const own = await versionOf(system, kept).catch(() => null);
  const version = await versionOf(system, found.get("svc-api") ?? kept);
  if (own === null || own === version) return true;
  await out.note(`The server keeps its version ${own}; svc-api of ${version} is on this machine.`);
  return false;
}

async function fetchPrograms({ system, out }: Context, stack: Stack, isForeign: boolean): Promise<void> {
  if (!isForeign && !hasRelease()) {
    throw new CliError(
      "self_host",
      `There is no release of svc-api for ${process.platform} ${process.arch}.`,
      {
        hint: "Build it from source and name it with `--api-binary <path>`, or use Docker: svc self-host start",
      },
    );
  }
  // a compiled svc is a program for sandboxes, too
  const own = system.self.length === 1 ? system.self[0] : undefined;
  const needsSvc = isForeign || own === undefined;
  const programs: Program[] = ["svc-api", "svc-agent", ...(needsSvc ? (["svc"] as const) : [])];
  await out.note("Downloading svc-api …");
  await downloadPrograms(system, stack, programs);
  if (!needsSvc) await installPrograms(stack, new Map([["svc", own]]));
}
