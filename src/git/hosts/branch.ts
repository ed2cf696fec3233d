import { resolveHost } from "../../lib/address.ts";
import type { BranchRequest, RemoteRepository } from "../git.ts";
import { publicAddresses } from "../remote/address.ts";
import { secretsOf } from "../remote/remote.ts";
import { readRemoteUrl } from "../remote/remote-url.ts";
import type { Engine } from "../run/engine.ts";
import { hasProxy } from "../run/environment.ts";
import { redact } from "../run/redact.ts";
import { valueAt } from "./api.ts";
import { callHost, type HostAnswer } from "./call.ts";
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
    const call = await caller(engine, host);
    const read = await call("GET", api.branch(path, base), null);
    commit = read.status === 200 ? api.commitOf(read.answer, base) : null;
    if (!commit) return declined(read);
    const creation = api.newBranch(path, branch, commit);
    const made = await call("POST", creation.path, creation.body);
    if (made.status === 201 && api.commitOf(made.answer, branch) === commit) return { commit, made: true };
    declined(made);
  } catch (error) {
    note(error instanceof Error ? error.message : String(error), null);
  }
  return commit ? { commit, made: false } : null;

  function declined({ status, answer }: HostAnswer): null {
    const words = valueAt(answer, "message");
    note(typeof words === "string" ? words : "no reason was given", status);
    return null;
  }

  function note(reason: string, status: number | null): void {
    const clean = redact(reason, secretsOf(credential), [], REASON_MAX_BYTES);
    engine.log.info({ api: host.base, status, reason: clean }, "the host's API did not create a branch");
  }
}

/** The most bytes of a host's reason in the log. */
const REASON_MAX_BYTES = 256;

/** Calls the host, with one deadline for all calls together. */
async function caller(engine: Engine, { api, base, credential, trusted }: HostedRepository) {
  const signal = AbortSignal.timeout(engine.limits.apiMs);
  const address = trusted || engine.remote.allowPrivate ? null : await checkedAddress(engine, base);
  return (method: "GET" | "POST", path: string, body: object | null): Promise<HostAnswer> =>
    callHost({
      method,
      url: `${base}${path}`,
      headers: api.headers(credential.token),
      body,
      address,
      maxBytes: engine.limits.apiBytes,
      signal,
    });
}

/** Checked like a repository's host, unless a proxy connects to it. */
async function checkedAddress(engine: Engine, base: string): Promise<string | null> {
  const { resolve = resolveHost, limits } = engine.remote;
  const [address] = await publicAddresses(new URL(base).hostname, resolve, limits.resolveMs);
  return hasProxy() ? null : (address ?? null);
}
