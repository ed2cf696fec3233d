import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Platform } from "../../src/contract/release.ts";
import { platformOf } from "../../src/contract/release.ts";
import { run } from "../run.ts";
import { ReleaseBuildError } from "./failure.ts";
import type { Target } from "./targets.ts";

/** The program of Debian's qemu-user-static, and its name elsewhere. */
const ARM64_EMULATORS = ["qemu-aarch64-static", "qemu-aarch64"];
/** Where Debian's cross compilers keep the libraries of arm64; an emulator looks for the dynamic loader there. */
const ARM64_LIBRARIES = "/usr/aarch64-linux-gnu";

/**
 * Runs `<program> version`, where this machine can: directly, or arm64 in qemu.
 * @returns what was done, for people
 * @throws ReleaseBuildError
 */
export async function trialRun(
  { program, platform }: Target,
  path: string,
  version: string,
): Promise<string> {
  const command = commandFor(platform);
  if (typeof command === "string") return `not run: ${command}`;
  const { code, out, err } = await run([...command, path, "version"]);
  const said = out.trim();
  const wanted = program === "svc" ? version : `${program} ${version}`;
  if (code !== 0 || said !== wanted)
    throw new ReleaseBuildError(`"${program} version" said "${said}" instead of "${wanted}". ${err.trim()}`);
  return command.length > 0 ? "runs in qemu" : "runs";
}

/** What to start a program with; a sentence if it cannot run here. */
function commandFor(platform: Platform): string[] | string {
  const isMusl = process.platform === "linux" && !Reflect.has(reportHeader(), "glibcVersionRuntime");
  if (platform === platformOf(process.platform, process.arch, isMusl)) return [];
  if (platform === "linux-arm64" && process.platform === "linux") {
    const emulator = ARM64_EMULATORS.map((name) => Bun.which(name)).find((found) => found !== null);
    const hasLibraries = existsSync(join(ARM64_LIBRARIES, "lib/ld-linux-aarch64.so.1"));
    return emulator && hasLibraries
      ? [emulator, "-L", ARM64_LIBRARIES]
      : "needs qemu and glibc for arm64 (Debian: qemu-user-static, libc6-arm64-cross)";
  }
  return platform.endsWith("-musl")
    ? "this machine has no libstdc++ for musl"
    : "this machine has another system";
}

function reportHeader(): object {
  const header: unknown = Reflect.get(process.report.getReport(), "header");
  return typeof header === "object" && header !== null ? header : {};
}
