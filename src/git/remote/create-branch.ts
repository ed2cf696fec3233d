import { SvcError } from "../../contract/errors.ts";
import {
  type Branches,
  type BranchRequest,
  isRemote,
  type PushOutcome,
  type PushRequest,
  type Repository,
} from "../git.ts";
import { branchByApi } from "../hosts/branch.ts";
import { areInConflict, checkBranchName } from "../refs.ts";
import type { Engine } from "../run/engine.ts";
import { SOON } from "../run/failure.ts";
import { isLost } from "./push.ts";

/** The operations for creating a branch, on a git host or in a repository that svc hosts. */
interface Steps {
  list(repo: Repository, timeoutMs: number): Promise<Branches>;
  ensure(repo: Repository, commits: readonly string[]): Promise<boolean>;
  push(repo: Repository, request: PushRequest): Promise<PushOutcome>;
}

/** Attempts while the repository keeps changing. */
const TRIES = 3;

/**
 * Creates a branch at its base's tip: through the host's API if svc supports it; else, or if the API fails, by a push
 * that expects the branch to be missing.
 * @returns the commit that the branch is at
 */
export async function createBranch(
  engine: Engine,
  { list, ensure, push }: Steps,
  repo: Repository,
  request: BranchRequest,
): Promise<string> {
  const branch = checkBranchName(request.branch);
  const base = checkBranchName(request.base);
  const asked = isRemote(repo) ? await branchByApi(engine, repo, { branch, base }) : null;
  if (asked?.made) return asked.commit;
  // commits at which this call may have created the branch: there it is a success, even if the base has moved on
  const ours = new Set(asked ? [asked.commit] : []);
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const { tips } = await list(repo, engine.limits.listMs);
    const existing = tips.get(branch);
    if (existing !== undefined && ours.has(existing)) return existing;
    const tip = tips.get(base);
    if (tip === undefined) throw new SvcError("ref_not_found", `The repository has no branch "${base}".`);
    if (existing === tip) return tip;
    requireFree(tips, branch);
    // the base may have moved away between the listing and the fetch
    if (!(await ensure(repo, [tip]))) continue;
    ours.add(tip);
    const pushed = await push(repo, { branch, from: null, to: tip });
    if (pushed.outcome === "moved") return tip;
    if (pushed.outcome === "rejected")
      throw new SvcError("push_rejected", `The git host refused the branch "${branch}": ${pushed.reason}`);
    if (pushed.outcome === "unknown") return await checkLostPush(branch, pushed.reason);
  }
  const message = `The branch "${branch}" could not be created: the repository changed at every attempt. Try again in a moment.`;
  throw new SvcError("unavailable", message, {}, { "Retry-After": "1" });

  /** Checks the repository after the answer to a push was lost. */
  async function checkLostPush(name: string, reason: string): Promise<string> {
    const { tips } = await list(repo, engine.limits.listMs);
    const existing = tips.get(name);
    if (existing !== undefined && ours.has(existing)) return existing;
    // nothing was changed, and the push expects that
    const sentence = `The git host did not create the branch "${name}": ${reason}`;
    throw new SvcError("repo_unreachable", sentence, {}, isLost(reason) ? SOON : {});
  }
}

/** @throws SvcError `branch_exists` */
function requireFree(tips: ReadonlyMap<string, string>, branch: string): void {
  for (const name of tips.keys()) {
    if (name !== branch && !areInConflict(name, branch)) continue;
    const what = name === branch ? "at another commit" : `and prevents "${branch}"`;
    throw new SvcError("branch_exists", `The branch "${name}" already exists ${what}.`);
  }
}
