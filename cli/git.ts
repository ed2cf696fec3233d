import { withoutRuntime } from "./browser.ts";
import { CliError } from "./failure.ts";
import { commandOf, startGit } from "./git-start.ts";
import { type Watch, type Watched, watch } from "./git-watch.ts";
import type { System } from "./system.ts";

/** Seconds for a question to the repository on this machine: a listing of a very large one on a slow disk. */
const ASK_SECONDS = 120;
/** The answer to such a question; nobody ships more paths than fit. */
const ANSWER_MAX_BYTES = 64 * 1024 * 1024;
/** Characters of git's own words that an error repeats: the end, where the reason is. */
const WORDS_MAX = 2000;

/** What only looks waits neither for a lock nor for a person, and is read by a program. */
const ALONE = { GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", GIT_ASKPASS: "", LC_ALL: "C" };

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** The user's git in one folder, with the user's own settings. Arguments are lists: no shell reads them. */
export interface Git {
  /** A question, whatever the answer. @throws CliError `git` when there is no git, or it does not come to an end. */
  ask(...args: string[]): Promise<Ran>;
  /** What is certain to succeed: its standard output. @throws CliError `git` with git's words. */
  tell(...args: string[]): Promise<string>;
  /** What a person waits for, with git's words and progress on stderr. @throws CliError `git`, `timeout`. */
  watch(args: readonly string[], options: Watch): Promise<Watched>;
}

export function gitIn(system: System, folder: string): Git {
  const ask = (...args: string[]) => runGit(system, folder, args);
  return {
    ask,
    async tell(...args) {
      const { code, stdout, stderr } = await ask(...args);
      if (code === 0) return stdout;
      throw gitFailed(commandOf(args), code, stderr);
    },
    watch: (args, options) => watch(system, folder, args, options),
  };
}

/** A failure of git that is nothing in particular, in git's own words where nobody has seen them yet. */
export function gitFailed(command: string, code: number, words: string): CliError {
  const said = words.trim().slice(-WORDS_MAX);
  return new CliError("git", said === "" ? `git ${command} ended with ${code}.` : `git ${command}: ${said}`);
}

async function runGit(system: System, folder: string, args: readonly string[]): Promise<Ran> {
  const child = startGit(() =>
    Bun.spawn(["git", ...args], {
      cwd: folder,
      env: { ...withoutRuntime(system.env), ...ALONE },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: ASK_SECONDS * 1000,
      maxBuffer: ANSWER_MAX_BYTES,
    }),
  );
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (child.exitCode !== null) return { code: child.exitCode, stdout, stderr };
  throw new CliError("git", `git ${commandOf(args)} did not come to an end within its limits.`);
}
