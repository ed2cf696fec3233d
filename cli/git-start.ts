import { CliError, systemCode } from "./failure.ts";

/** Starts git. @throws CliError `git` if it is not installed. */
export function startGit<T>(spawn: () => T): T {
  try {
    return spawn();
  } catch (error) {
    const code = systemCode(error);
    throw new CliError("git", `git cannot be started (${code ?? "unknown error"}).`, {
      hint: code === "ENOENT" ? "Install git, or put it on your PATH: https://git-scm.com" : undefined,
    });
  }
}

/** The command among git's arguments: `push` of `-c advice.x=false push --porcelain`. */
export const commandOf = (args: readonly string[]): string =>
  args.find((arg) => /^[a-z][a-z-]*$/.test(arg)) ?? "";
