import { withoutRuntime } from "./browser.ts";
import { CliError } from "./failure.ts";
import { commandOf, startGit } from "./git-start.ts";
import { type Watch, type Watched, watch } from "./git-watch.ts";
import type { System } from "./system.ts";

/** Timeout of a local git command: enough to list a very large repository on a slow disk. */
const RUN_SECONDS = 120;
/** The largest output of a local git command. */
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;
/** Characters of git's stderr in an error: the end, where the reason is. */
const STDERR_MAX = 2000;

/** A local git command takes no optional locks, does not prompt, and has output to parse. */
const NON_INTERACTIVE = { GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "", LC_ALL: "C" };

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the user's git in one folder, with the user's settings. Arguments are lists: there is no shell. */
export interface Git {
  /** Runs git; any exit code is returned. @throws CliError `git` if git is not installed or times out. */
  run(...args: string[]): Promise<GitResult>;
  /** Runs git and returns its stdout. @throws CliError `git` with git's stderr if it fails. */
  output(...args: string[]): Promise<string>;
  /** Runs git with its progress on stderr. @throws CliError `git`, `timeout`. */
  watch(args: readonly string[], options: Watch): Promise<Watched>;
}

export function gitIn(system: System, folder: string): Git {
  const run = (...args: string[]) => runGit(system, folder, args);
  return {
    run,
    async output(...args) {
      const { code, stdout, stderr } = await run(...args);
      if (code === 0) return stdout;
      throw gitFailed(commandOf(args), code, stderr);
    },
    watch: (args, options) => watch(system, folder, args, options),
  };
}

/** A failure of git, with its stderr unless that was shown already. */
export function gitFailed(command: string, code: number, stderr: string): CliError {
  const reason = stderr.trim().slice(-STDERR_MAX);
  return new CliError(
    "git",
    reason === "" ? `git ${command} exited with status ${code}.` : `git ${command}: ${reason}`,
  );
}

async function runGit(system: System, folder: string, args: readonly string[]): Promise<GitResult> {
  const child = startGit(() =>
    Bun.spawn(["git", ...args], {
      cwd: folder,
      env: { ...withoutRuntime(system.env), ...NON_INTERACTIVE },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: RUN_SECONDS * 1000,
      maxBuffer: OUTPUT_MAX_BYTES,
    }),
  );
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (child.exitCode !== null) return { code: child.exitCode, stdout, stderr };
  throw new CliError("git", `git ${commandOf(args)} exceeded its time or output limit.`);
}
