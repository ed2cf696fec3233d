import { SvcError } from "../../contract/errors.ts";
import type { RemoteRepository } from "../git.ts";
import { readRemoteUrl } from "../remote/remote-url.ts";
import type { Engine } from "../run/engine.ts";
import type { HostAnswer } from "./call.ts";
import { type Call, cleanReason, connectHost, reasonOf } from "./connect.ts";
import { findHost, type HostedRepository } from "./host.ts";
import type { HostOutcome, HostStatus } from "./types.ts";

/** Statuses that a wait may repair, although they say that the request was wrong. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/**
 * The checks of a commit on the repository's host, with the host's texts as they are. A host may list them in several
 * places, and a token may read only some of them: then those are the result.
 */
export async function readStatuses(
  engine: Engine,
  repo: RemoteRepository,
  commit: string,
): Promise<HostOutcome<HostStatus[]>> {
  return await ask(engine, repo, async (host, call) => {
    const found: HostStatus[] = [];
    let failure: HostOutcome<never> | null = null;
    let read = false;
    for (const page of host.api.statusPages(host.path, commit)) {
      const answered = await call("GET", page, null);
      const statuses = answered.status === 200 ? host.api.statusesOf(answered.answer) : null;
      if (statuses) found.push(...statuses);
      else failure ??= failureOf(host, answered);
      read ||= statuses !== null;
    }
    return failure && !read ? failure : { outcome: "done", value: found };
  });
}

/** Reports the result of a check of a commit to the repository's host. */
export async function reportStatus(
  engine: Engine,
  repo: RemoteRepository,
  commit: string,
  status: HostStatus,
): Promise<HostOutcome<null>> {
  return await ask(engine, repo, async (host, call) => {
    const { path, body } = host.api.newStatus(host.path, commit, status);
    const answered = await call("POST", path, body);
    const isDone = answered.status === 201 || host.api.isRepeated(answered.answer);
    return isDone ? { outcome: "done", value: null } : failureOf(host, answered);
  });
}

async function ask<T>(
  engine: Engine,
  repo: RemoteRepository,
  work: (host: HostedRepository, call: Call) => Promise<HostOutcome<T>>,
): Promise<HostOutcome<T>> {
  const { url } = readRemoteUrl(repo.url, engine.remote.allowPrivate);
  const host = findHost(engine.hosts, url, repo.credential);
  if (!host) return { outcome: "none" };
  try {
    return await engine.network(repo.id, async () =>
      work(host, await connectHost(engine, host, engine.limits.apiListBytes)),
    );
  } catch (error) {
    if (error instanceof SvcError && error.code === "repo_not_allowed") throw error;
    const reason = cleanReason(error instanceof Error ? error.message : String(error), host.credential);
    return { outcome: "failed", reason, isFinal: false, retryMs: null };
  }
}

function failureOf(host: HostedRepository, { status, answer, retryMs }: HostAnswer): HostOutcome<never> {
  const isFinal = status >= 400 && status < 500 && !PASSING.has(status) && retryMs === null;
  return { outcome: "failed", reason: `${status}: ${reasonOf(answer, host)}`, isFinal, retryMs };
}
