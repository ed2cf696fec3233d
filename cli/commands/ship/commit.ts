import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { ALL_LINKS, EXCEPT_LINKS } from "../../link.ts";
import { count, oneLine } from "../../text.ts";
import type { Steps } from "./steps.ts";
import type { WorkTree } from "./work-tree.ts";

/** Paths listed; the others are counted. */
const SHOWN = 10;
/** Timeout of a commit in seconds: hooks may run the project's tests. */
const COMMIT_SECONDS = 3600;
const MESSAGE = "Ship uncommitted work";

export interface CommitFlags {
  commit: boolean;
  message: string | undefined;
}

/** @throws CliError `git` without any commit, and for --commit during a merge or the like. */
export function requireCommits({ commit, changes, unfinished }: WorkTree, flags: CommitFlags): void {
  if (commit === null && !(flags.commit && changes.length > 0)) {
    throw new CliError("git", "Nothing to push: this repository has no commits yet.", {
      hint: "`svc ship --commit` commits all files first.",
    });
  }
  const inProgress = unfinished ?? (changes.some(({ letter }) => letter === "U") ? "merge" : null);
  if (!flags.commit || inProgress === null) return;
  throw new CliError("git", `Cannot commit: a ${inProgress} is in progress.`, {
    hint: "Finish it with `git commit`, or abort it, then run `svc ship` again.",
  });
}

/** Lists uncommitted changes, or commits them with --commit. Returns the resulting work tree. */
export async function commitOrReport(
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

/** As `git add --all` and `git commit` do, with the user's hooks, but without links, staged or not. */
async function commitAll({ git, commit }: WorkTree, message = MESSAGE, hidden: boolean): Promise<string> {
  const unstage = commit === null ? ["rm", "--cached", "--ignore-unmatch"] : ["reset"];
  await git.output(...unstage, "--quiet", "--", ALL_LINKS);
  for (const command of [
    ["add", "--all", "--", ...EXCEPT_LINKS],
    ["commit", "--quiet", `--message=${message}`],
  ]) {
    const { code, output } = await git.watch(command, { hidden, seconds: COMMIT_SECONDS });
    if (code === 0) continue;
    const reason = output.trim() === "" ? "" : `\n${output.trim()}`;
    throw new CliError(
      "git",
      `Nothing was committed: git ${command[0]} exited with status ${code}.${reason}`,
      {
        hint: "Fix what git reports, then run `svc ship --commit` again.",
      },
    );
  }
  return (await git.output("rev-parse", "--verify", "HEAD")).trim();
}
