import { rm } from "node:fs/promises";
import { SvcError } from "../../src/contract/errors.ts";
import type { MergeMethod } from "../../src/contract/merge-method.ts";
import type { Git, Repository, Written } from "../../src/git/git.ts";
import { runGit } from "./git-repo.ts";

const PERSON = { name: "M", email: "m@example.com" };
const COMMITTER = { GIT_COMMITTER_NAME: PERSON.name, GIT_COMMITTER_EMAIL: PERSON.email };
/** What a rebase keeps, and what it gives. */
const COMMITS = "--format=%an <%ae> %ad%n%B%T";

/** A work tree of git's own, and the same repository in svc. */
export interface Place {
  git: Git;
  repo: Repository;
  /** A work tree that may be overwritten. */
  directory: string;
  /** The mirror of svc. */
  mirror: string;
}

/**
 * Merges two commits with git in a work tree, and with svc.
 * @returns the outcome of each: `conflict`, `refused`, `aborted` (git or svc failed), or the resulting tree or commits
 */
export async function mergeBoth(
  place: Place,
  method: MergeMethod,
  base: string,
  head: string,
): Promise<{ git: string; svc: string }> {
  const svc = await bySvc(place, method, base, head).catch((error: unknown) => {
    if (error instanceof SvcError) return "aborted";
    throw error;
  });
  return { git: await byGit(place, method, base, head), svc };
}

async function byGit({ directory }: Place, method: MergeMethod, base: string, head: string): Promise<string> {
  const git = async (...args: string[]) => (await runGit(directory, args)).stdout.toString().trim();
  if (method === "rebase") {
    const ended = await inWorkTree(directory, head, ["rebase", "--quiet", base]);
    if (ended === "conflict") await runGit(directory, ["rebase", "--quit"]);
    return ended ?? (await git("log", COMMITS, "--reverse", `${base}..HEAD`));
  }
  if (method === "ff-only") {
    const ended = await inWorkTree(directory, base, ["merge", "--quiet", "--ff-only", head]);
    return ended === null ? await git("rev-parse", "HEAD^{tree}") : "refused";
  }
  const how = method === "squash" ? ["--squash"] : ["--no-ff", "--no-commit"];
  const ended = await inWorkTree(directory, base, ["merge", "--quiet", ...how, head]);
  return ended ?? (await git("write-tree"));
}

/** @returns null when git succeeds */
async function inWorkTree(
  directory: string,
  at: string,
  args: string[],
): Promise<"conflict" | "aborted" | null> {
  await rm(`${directory}/.git/rebase-merge`, { recursive: true, force: true });
  await runGit(directory, ["checkout", "--quiet", "--force", "--detach", at]);
  await runGit(directory, ["clean", "--quiet", "-ffdx"]);
  const { code } = await runGit(directory, args, { codes: [0, 1, 2, 128, 134], env: COMMITTER });
  if (code <= 1) return code === 0 ? null : "conflict";
  // git removes its locks on most signals, and not on its own abort()
  await rm(`${directory}/.git/index.lock`, { force: true });
  return "aborted";
}

async function bySvc(place: Place, method: MergeMethod, base: string, head: string): Promise<string> {
  const show = async (...args: string[]) =>
    (await runGit(place.mirror, args, { env: { GIT_DIR: place.mirror } })).stdout.toString().trim();
  if (method === "ff-only") {
    const { canFastForward, isUpToDate } = await place.git.relate(place.repo, base, head);
    if (!canFastForward && !isUpToDate) return "refused";
    return await show("rev-parse", `${canFastForward ? head : base}^{tree}`);
  }
  const written = await write(place, method, base, head);
  if ("conflicts" in written) return "conflict";
  if (method === "rebase") return await show("log", COMMITS, "--reverse", `${base}..${written.commit}`);
  return await show("rev-parse", `${written.commit}^{tree}`);
}

function write({ git, repo }: Place, method: MergeMethod, base: string, head: string): Promise<Written> {
  const request = { base, head, message: "m", identity: PERSON, date: new Date(0) };
  if (method === "rebase") return git.writeRebase(repo, request);
  return method === "squash" ? git.writeSquash(repo, request) : git.writeMerge(repo, request);
}
