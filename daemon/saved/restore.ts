import { type Credential, CredentialError, fetchCredential } from "../git/credential.ts";
import { gitEnvironment, readFailure } from "../git/git.ts";
import type { Children } from "../process/children.ts";
import { type RunResult, run } from "../process/run.ts";
import type { Settings } from "../settings.ts";
import { SaveError } from "./save-error.ts";
import { readSavedCommit } from "./saved-commit.ts";
import { createWorkspaceGit, type WorkspaceGit } from "./workspace-git.ts";

export interface Restored {
  /** Earlier saved work that could not be restored, and stays saved; null: none. */
  earlier: string | null;
}

/** The largest saved work on a slow network. */
const FETCH_MS = 10 * 60_000;
const LOCAL_MS = 2 * 60_000;
/** Earlier sandboxes whose work is restored too; older work stays saved. */
const LIVES_MAX = 20;

/**
 * Restores saved work in a new clone, before the runtime starts. Unpushed commits are restored on the branch if that is a
 * fast-forward of its tip; all other changes are restored in the work tree, unstaged. Work of earlier sandboxes that was
 * never restored is merged after it, as long as it does not conflict. If the work cannot be restored, nothing changes.
 * @throws SaveError
 */
export async function restoreSaved(
  { settings, children }: { settings: Settings; children: Children },
  commit: string,
  signal: AbortSignal,
): Promise<Restored> {
  const credential = await fetchCredential(settings, settings.token, signal).catch((error: unknown) => {
    throw error instanceof CredentialError ? new SaveError(error.message) : error;
  });
  const clone: Clone = { settings, children, credential, signal };
  await fetchSaved(clone, commit);
  const newest = await read(clone, commit);
  const { base } = newest;
  const isAhead =
    base !== null && (await git(clone, ["merge-base", "--is-ancestor", "HEAD", base])).code === 0;
  if (isAhead) await must(clone, ["reset", "--quiet", "--hard", base]);
  const head = await must(clone, ["rev-parse", "HEAD"]);
  // an unrelated history has no merge base
  const isApart = base === null || (await git(clone, ["merge-base", head, base])).code !== 0;
  if (isAhead || isApart) await must(clone, ["read-tree", "--reset", "-u", commit]);
  else if (!(await mergeIn(clone, commit, base)))
    throw new SaveError("it conflicts with newer commits on the branch.");
  const earlier = await mergeEarlier(clone, newest.earlier, head);
  const workspaceGit = createWorkspaceGit({ settings, children }, signal);
  const diff = ["diff", "--cached", "--name-only", "-z", "--no-renames", "--diff-filter=A", head];
  const added = await listFiles(workspaceGit, diff);
  await must(clone, ["reset", "--quiet", head]);
  await trackIgnored(workspaceGit, new Set(added));
  return { earlier };
}

interface Clone {
  settings: Settings;
  children: Children;
  credential: Credential;
  signal: AbortSignal;
}

async function fetchSaved(clone: Clone, commit: string): Promise<void> {
  const { settings, credential } = clone;
  const args = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", settings.repoUrl, commit];
  const fetched = await git(clone, args, true);
  if (fetched.code !== 0)
    throw new SaveError(`it could not be fetched: ${readFailure(fetched.stderr, credential).reason}.`);
}

async function read(clone: Clone, id: string): Promise<ReturnType<typeof readSavedCommit>> {
  return readSavedCommit(await must(clone, ["cat-file", "commit", id]));
}

/** Merges the work of earlier sandboxes into the index. @returns the work that could not be merged */
async function mergeEarlier(clone: Clone, newest: string | null, head: string): Promise<string | null> {
  let earlier = newest;
  for (let lives = 0; earlier !== null && lives < LIVES_MAX; lives++) {
    const before = await read(clone, earlier);
    // as if it were committed, so that git can merge into it
    const staged = await commitTree(clone, await must(clone, ["write-tree"]), head);
    await must(clone, ["reset", "--quiet", "--hard", staged]);
    if (before.base === null || !(await mergeIn(clone, earlier, before.base))) break;
    earlier = before.earlier;
  }
  return earlier;
}

/** Applies the changes of a commit of saved work. @returns false if they conflict; then nothing has changed */
async function mergeIn(clone: Clone, id: string, parent: string): Promise<boolean> {
  const tree = await must(clone, ["rev-parse", "--verify", `${id}^{tree}`]);
  const changed = await commitTree(clone, tree, parent);
  if ((await git(clone, ["merge", "--squash", "--quiet", changed])).code === 0) return true;
  await must(clone, ["reset", "--quiet", "--hard"]);
  await must(clone, ["clean", "-ffdq"]);
  return false;
}

function commitTree(clone: Clone, tree: string, parent: string): Promise<string> {
  return must(clone, ["commit-tree", tree, "-p", parent, "-m", "Saved work"]);
}

async function must(clone: Clone, argv: readonly string[]): Promise<string> {
  const ran = await git(clone, argv);
  if (ran.code === 0) return ran.stdout.trim();
  throw new SaveError(`git ${argv[0]} failed: ${readFailure(ran.stderr, clone.credential).reason}.`);
}

function git(
  { settings, children, credential, signal }: Clone,
  argv: readonly string[],
  isFetch = false,
): Promise<RunResult> {
  const author = { GIT_AUTHOR_NAME: "svc", GIT_AUTHOR_EMAIL: "saved@svc.invalid" };
  const committer = { GIT_COMMITTER_NAME: "svc", GIT_COMMITTER_EMAIL: "saved@svc.invalid" };
  const command = {
    argv: ["git", ...argv],
    environment: { ...gitEnvironment(settings, isFetch ? credential : null), ...author, ...committer },
    directory: settings.workspace,
    ...settings.user,
  };
  return run(children, command, isFetch ? FETCH_MS : LOCAL_MS, signal);
}

/**
 * Tracks restored files that are ignored: they were staged before, and the next save would not include them if they were
 * untracked. Their content is not staged (git-add(1), `--intent-to-add`).
 */
async function trackIgnored(workspaceGit: WorkspaceGit, added: ReadonlySet<string>): Promise<void> {
  const list = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
  const ignored = await listFiles(workspaceGit, list);
  const untracked = ignored.filter((path) => added.has(path));
  if (untracked.length === 0) return;
  const add = ["add", "--force", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul"];
  const stdin = Buffer.from(untracked.join("\0"), "latin1");
  await workspaceGit.must("git could not track a restored file", add, { stdin });
}

/** Paths in latin1. */
async function listFiles({ must }: WorkspaceGit, command: readonly string[]): Promise<string[]> {
  const listed = await must("git could not list files", command);
  return listed.toString("latin1").split("\0").filter(Boolean);
}
