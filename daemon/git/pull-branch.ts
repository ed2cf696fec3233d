import { SvcError } from "../../src/contract/errors.ts";
import { readCommit } from "../health.ts";
import type { Children } from "../process/children.ts";
import { type RunResult, run } from "../process/run.ts";
import type { Settings } from "../settings.ts";
import { CredentialError, fetchCredential } from "./credential.ts";
import { readFailure, workspaceCommand } from "./git.ts";

const FETCH_MS = 10 * 60_000;
const LOCAL_MS = 60_000;

/**
 * Fast-forwards the workspace to the tip of the session's branch on svc.
 * @throws SvcError repo_unreachable if the branch cannot be fetched, not_fast_forward
 */
export async function pullBranch(context: {
  settings: Settings;
  children: Children;
}): Promise<{ before: string | null; after: string | null }> {
  const { settings, children } = context;
  const { branch, repoUrl, token } = settings;
  const credential = await fetchCredential(settings, token).catch((error: unknown) => {
    if (error instanceof CredentialError) throw new SvcError("repo_unreachable", error.message);
    throw error;
  });
  const git = (argv: string[], ms: number, withCredential = false): Promise<RunResult> =>
    run(children, workspaceCommand(settings, argv, withCredential ? credential : null), ms);
  const head = await git(["symbolic-ref", "--quiet", "HEAD"], LOCAL_MS);
  if (head.stdout.trim() !== `refs/heads/${branch}`) {
    throw new SvcError(
      "not_fast_forward",
      "The workspace has a different branch checked out. Switch back to the session's branch and refresh again.",
    );
  }
  const before = await readCommit(context);
  const refspec = `+refs/heads/${branch}:refs/remotes/origin/${branch}`;
  const fetched = await git(["fetch", "--quiet", "--no-tags", "--", repoUrl, refspec], FETCH_MS, true);
  if (fetched.code !== 0) {
    const { reason } = readFailure(fetched.stderr, credential);
    throw new SvcError("repo_unreachable", `The session's branch could not be fetched: ${reason}.`);
  }
  const merged = await git(["merge", "--quiet", "--ff-only", `refs/remotes/origin/${branch}`], LOCAL_MS);
  if (merged.code !== 0) {
    const why = /would be overwritten/.test(merged.stderr)
      ? "it would overwrite changed files in the workspace"
      : "the workspace has commits that the branch does not have";
    throw new SvcError("not_fast_forward", `The branch cannot be fast-forwarded: ${why}.`);
  }
  return { before, after: await readCommit(context) };
}
