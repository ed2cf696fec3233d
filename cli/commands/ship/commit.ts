import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { count, oneLine } from "../../text.ts";
import type { Steps } from "./steps.ts";
import type { WorkTree } from "./work-tree.ts";

/** Paths that are named; the others are counted. */
const SHOWN = 10;
/** Seconds that a commit may take: a project's hooks may run its tests. */
const COMMIT_SECONDS = 3600;
const MESSAGE = "Ship uncommitted work";

export interface CommitFlags {
  commit: boolean;
  message: string | undefined;
}

/** @throws CliError `git` when nothing is or will be committed, or when --commit would be more than a plain commit. */
export function requireCommits({ commit, changes, unfinished }: WorkTree, flags: CommitFlags): void {
  if (commit === null && !(flags.commit && changes.length > 0)) {
    throw new CliError("git", "There is nothing to push: this repository has no commit yet.", {
      hint: "`svc ship --commit` commits all files first.",
    });
  }
  const begun = unfinished ?? (changes.some(({ letter }) => letter === "U") ? "merge" : null);
  if (!flags.commit || begun === null) return;
  throw new CliError("git", `A ${begun} is not finished here, so --commit does nothing.`, {
    hint: "Finish it with `git commit`, or give it up, then run `svc ship` again.",
  });
}

/** Says what is not committed, and with --commit commits it. Answers with the work tree as it is then. */
export async function commitOrTell(
  { out }: Context,
  steps: Steps,
  tree: WorkTree,
  flags: CommitFlags,
): Promise<WorkTree> {
  if (tree.changes.length === 0) return tree;
  const paths = count(tree.changes.length, "path");
  if (!flags.commit) {
    await out.note(`${paths} not committed, so not shipped (\`svc ship --commit\` commits):${listed(tree)}`);
    return tree;
  }
  await out.note(`${steps.dryRun ? "To be committed" : "Committing"}: ${paths}${listed(tree)}`);
  const commit = await steps.take(`commit ${paths}`, () => commitAll(tree, flags.message, out.data.json));
  return commit === null ? tree : { ...tree, commit, changes: [] };
}

function listed({ changes }: WorkTree): string {
  const lines = changes.slice(0, SHOWN).map(({ letter, path }) => `\n  ${letter} ${oneLine(path)}`);
  return lines.join("") + (changes.length > SHOWN ? `\n  and ${changes.length - SHOWN} more` : "");
}

/** As `git add --all` and `git commit` do, with the user's hooks. */
async function commitAll({ git }: WorkTree, message = MESSAGE, hidden: boolean): Promise<string> {
  for (const command of [
    ["add", "--all"],
    ["commit", "--quiet", `--message=${message}`],
  ]) {
    const { code, words } = await git.watch(command, { hidden, seconds: COMMIT_SECONDS });
    if (code === 0) continue;
    const said = words.trim() === "" ? "" : `\n${words.trim()}`;
    throw new CliError("git", `Nothing was committed: git ${command[0]} ended with ${code}.${said}`, {
      hint: "Mend what git says, then run `svc ship --commit` again.",
    });
  }
  return (await git.tell("rev-parse", "--verify", "HEAD")).trim();
}
