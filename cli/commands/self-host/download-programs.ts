import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PROGRAM_PLATFORMS, type Program } from "../../../src/contract/release.ts";
import { VERSION } from "../../../src/contract/version.ts";
import { CliError } from "../../failure.ts";
import { downloadArchive } from "../../install/download-archive.ts";
import { extract } from "../../install/extract.ts";
import { type InstallRecord, readRecord } from "../../install/record.ts";
import type { System } from "../../system.ts";
import type { Stack } from "./stack.ts";

type Host = Pick<System, "env" | "fetch">;

/** The programs in an archive. */
const PROGRAMS: Readonly<Record<Program, readonly [string, ...string[]]>> = {
  svc: ["svc"],
  "svc-api": ["svc-api"],
  "svc-agent": ["svc-agent", "svc-entrypoint"],
};

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
  try {
    const record = await readRecord(system);
    if (record === null)
      throw failed(
        "svc-api is neither beside svc nor on the PATH, and there is no record of where svc was installed from.",
      );
    await mkdir(stack.bin, { recursive: true, mode: 0o700 });
    for (const program of programs) await downloadProgram(system, stack, record, program);
  } catch (error) {
    if (error instanceof CliError && error.code !== "self_host") throw failed(error.message);
    throw error;
  }
}

/** Whether releases have svc-api for this system. */
export const hasRelease = (): boolean =>
  process.platform === "linux" && PROGRAM_PLATFORMS["svc-api"].some((name) => name.endsWith(process.arch));

async function downloadProgram(
  system: Host,
  stack: Stack,
  record: InstallRecord,
  program: Program,
): Promise<void> {
  // a server needs glibc, also where svc is the build for musl
  const platform = process.arch === "arm64" ? "linux-arm64" : "linux-x64";
  const archive = await downloadArchive(system, record, { program, version: VERSION, platform });
  const file = join(stack.bin, `.${program}-${process.pid}.tar.xz`);
  try {
    await writeFile(file, archive, { mode: 0o600 });
    const names = PROGRAMS[program];
    const contents = await extract(file, names);
    for (const [i, name] of names.entries()) {
      await writeFile(`${file}.new`, contents[i] ?? "");
      await chmod(`${file}.new`, 0o755);
      await rename(`${file}.new`, join(stack.bin, name));
    }
  } finally {
    await rm(file, { force: true });
    await rm(`${file}.new`, { force: true });
  }
}

const failed = (message: string): CliError =>
  new CliError("self_host", message, { hint: "Name the program with `--api-binary <path>`." });
