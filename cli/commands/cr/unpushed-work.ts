import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Context } from "../../context.ts";
import { gitIn } from "../../git.ts";

/**
 * What an agent that opens a change request may have forgotten, as sentences with what to type: work in its clone that
 * is not committed or not pushed is not in it.
 */
export async function leftBehind({ system }: Context, cr: ChangeRequest): Promise<string[]> {
  const git = gitIn(system, system.cwd);
  const [branch, head, status] = await Promise.all([
    git.ask("symbolic-ref", "--quiet", "--short", "HEAD"),
    git.ask("rev-parse", "--verify", "--quiet", "HEAD"),
    git.ask("status", "--porcelain", "--untracked-files=normal"),
  ]).catch(() => []);
  // somewhere else than in the session's clone there is nothing to compare
  const isHere = branch?.code === 0 && branch.stdout.trim() === cr.head_ref;
  const files = isHere && status?.code === 0 ? status.stdout.split("\n").filter(Boolean).length : 0;
  const isPushed = !isHere || head?.code !== 0 || head.stdout.trim() === cr.head_commit_sha;
  return [
    ...(files > 0
      ? [
          `${files === 1 ? "1 change is" : `${files} changes are`} not committed, and not in it: git add, git commit`,
        ]
      : []),
    ...(isPushed ? [] : ["Commits are not pushed, and not in it: git push origin HEAD"]),
    ...(isPushed && files === 0 && cr.head_commit_sha !== null && cr.head_commit_sha === cr.base_commit_sha
      ? ["It changes nothing yet: commit, then git push origin HEAD"]
      : []),
  ];
}
