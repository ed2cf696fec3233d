import { TITLE_MAX } from "../../../src/contract/limits.ts";
import { usage } from "../../failure.ts";
import { gitIn } from "../../git.ts";
import type { System } from "../../system.ts";
import { oneLine } from "../../text.ts";

export interface Words {
  title: string;
  description: string;
}

/** The newest commits that are read. */
const COMMITS_MAX = 50;

/**
 * What the commits of a local branch say that its base does not have: the message of a single one, else the name of the branch
 * and a list of their subjects.
 * @returns null if there are none here
 */
export async function fromCommits(system: System, head: string, base: string): Promise<Words | null> {
  const git = gitIn(system, system.cwd);
  const { code, stdout } = await git.run(
    "log",
    `--max-count=${COMMITS_MAX}`,
    "--reverse",
    "--no-merges",
    "--format=%s%x00%b%x00",
    `refs/heads/${head}`,
    "--not",
    `--remotes=*/${base}`,
  );
  if (code !== 0) return null;
  const fields = stdout.split("\0");
  const commits = Array.from({ length: Math.floor(fields.length / 2) }, (_, at) => ({
    subject: (fields[2 * at] ?? "").trim(),
    body: (fields[2 * at + 1] ?? "").trim(),
  }));
  const [first] = commits;
  if (!first) return null;
  const title = (commits.length === 1 ? first.subject : wordsOf(head)).slice(0, TITLE_MAX);
  const description =
    commits.length === 1 ? first.body : commits.map(({ subject }) => `- ${subject}`).join("\n");
  return { title: title || wordsOf(head), description };
}

/** @throws CliError `usage` if there are no commits to read */
export async function filled(system: System, head: string, base: string): Promise<Words> {
  const found = await fromCommits(system, head, base);
  if (found) return found;
  throw usage(
    `--fill found no commits of ${oneLine(head)} that ${oneLine(base)} does not have.`,
    "Run it in a clone that has the branch, after `git fetch`; or pass --title.",
  );
}

/** `fix/login-page` → `fix/login page`. */
function wordsOf(branch: string): string {
  return branch.replace(/[-_]+/g, " ").trim() || branch;
}
