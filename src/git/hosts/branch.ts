import type { BranchRequest, RemoteRepository } from "../git.ts";
import { readRemoteUrl } from "../remote/remote-url.ts";
import type { Engine } from "../run/engine.ts";
import type { HostAnswer } from "./call.ts";
import { cleanReason, connectHost, reasonOf } from "./connect.ts";
import { findHost, type HostedRepository } from "./host.ts";

/**
 * Creates a branch through the API of the repository's host at the base's tip. Errors of the host are only logged: a push
 * often succeeds where the API does not, and if it fails, git gives the best error.
 * @returns `made`: the branch is at `commit` now; else the request was sent, and the branch may exist. Null when it was
 * not sent: svc does not support the host's API, or could not read the tip.
 * @throws SvcError `invalid_repo_url`, `repo_not_allowed`: the URL itself; `unavailable`: too many requests wait for hosts
 */
export async function branchByApi(
  engine: Engine,
  repo: RemoteRepository,
  request: BranchRequest,
): Promise<{ commit: string; made: boolean } | null> {
  const { url } = readRemoteUrl(repo.url, engine.remote.allowPrivate);
  const host = findHost(engine.hosts, url, repo.credential);
  return host && (await engine.network(repo.id, () => ask(engine, host, request)));
}

async function ask(engine: Engine, host: HostedRepository, { branch, base }: BranchRequest) {
  const { api, path, credential } = host;
  let commit: string | null = null;
  try {
    const call = await connectHost(engine, host, engine.limits.apiBytes);
    const read = await call("GET", api.branch(path, base), null);
    commit = read.status === 200 ? api.commitOf(read.answer, base) : null;
    if (!commit) return declined(read);
    const creation = api.newBranch(path, branch, commit);
    const made = await call("POST", creation.path, creation.body);
    if (made.status === 201 && api.commitOf(made.answer, branch) === commit) return { commit, made: true };
    declined(made);
  } catch (error) {
    note(cleanReason(error instanceof Error ? error.message : String(error), credential), null);
  }
  return commit ? { commit, made: false } : null;

  function declined({ status, answer }: HostAnswer): null {
    note(reasonOf(answer, host), status);
    return null;
  }

  function note(reason: string, status: number | null): void {
    engine.log.info({ api: host.base, status, reason }, "the host's API did not create a branch");
  }
}
