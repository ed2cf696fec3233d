import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Context } from "../../context.ts";
import { gitIn } from "../../git.ts";

/**
 * Sentences about work in an agent's clone that is not committed or not pushed, and so is not part of its change request,
 * each with the command to run.
 */
export async function unpushedWork({ system }: Context, cr: ChangeRequest): Promise<string[]> {
  const git = gitIn(system, system.cwd);
  const [branch, head, status] = await Promise.all([
    git.run("symbolic-ref", "--quiet", "--short", "HEAD"),
    git.run("rev-parse", "--verify", "--quiet", "HEAD"),
    git.run("status", "--porcelain", "--untracked-files=normal"),
  ]).catch(() => []);
  // outside of the session's clone there is nothing to compare
  const isHere = branch?.code === 0 && branch.stdout.trim() === cr.head_ref;
  const files = isHere && status?.code === 0 ? status.stdout.split("\n").filter(Boolean).length : 0;
  const isPushed = !isHere || head?.code !== 0 || head.stdout.trim() === cr.head_commit_sha;
  return [
    ...(files > 0
      ? [
          `${files === 1 ? "1 change is" : `${files} changes are`} not committed, so not part of it: git add, git commit`,
        ]
      : []),
    ...(isPushed ? [] : ["Commits are not pushed, so not part of it: git push origin HEAD"]),
    ...(isPushed && files === 0 && cr.head_commit_sha !== null && cr.head_commit_sha === cr.base_commit_sha
      ? ["It has no changes yet: commit, then git push origin HEAD"]
      : []),
  ];
}
