import { PLATFORMS, type Platform, PROGRAM_PLATFORMS, type Program } from "../../src/contract/release.ts";

/** A program of a release for one platform. */
export interface Target {
  program: Program;
  platform: Platform;
}

export const PROGRAMS: readonly Program[] = ["svc", "svc-api", "svc-agent"];

/** The names of platforms in Bun's packages (`@oven/bun-…`, in `bun-runtimes.json`) and in `bun build --target`. */
export const BUN_NAMES: Readonly<Record<Platform, { runtime: string; target: string }>> = {
  "linux-x64": { runtime: "linux-x64", target: "bun-linux-x64" },
  "linux-x64-musl": { runtime: "linux-x64-musl", target: "bun-linux-x64-musl" },
  "linux-arm64": { runtime: "linux-aarch64", target: "bun-linux-arm64" },
  "linux-arm64-musl": { runtime: "linux-aarch64-musl", target: "bun-linux-arm64-musl" },
  "macos-arm64": { runtime: "darwin-aarch64", target: "bun-darwin-arm64" },
  "macos-x64": { runtime: "darwin-x64", target: "bun-darwin-x64" },
  "windows-x64": { runtime: "windows-x64", target: "bun-windows-x64" },
};

/** The targets of some programs and platforms, in the order of `PROGRAMS` and `PLATFORMS`. */
export function targetsOf(programs: readonly Program[], platforms: readonly Platform[]): Target[] {
  return PROGRAMS.filter((program) => programs.includes(program)).flatMap((program) =>
    PLATFORMS.filter(
      (platform) => platforms.includes(platform) && PROGRAM_PLATFORMS[program].includes(platform),
    ).map((platform) => ({ program, platform })),
  );
}
