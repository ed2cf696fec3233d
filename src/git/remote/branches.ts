import { SvcError } from "../../contract/errors.ts";
import { createShare } from "../../lib/coalesce.ts";
import { within } from "../../lib/within.ts";
import type { Branches, RemoteRepository } from "../git.ts";
import type { Engine } from "../run/engine.ts";
import { remoteFailure, SOON } from "../run/failure.ts";
import { listByLsRefs } from "./ls-refs.ts";
import { openRemote, type Remote } from "./remote.ts";

/** Lists the branches of remotes; concurrent callers share a listing that began after their calls. */
export function createListing(
  engine: Engine,
): (repo: RemoteRepository, timeoutMs: number) => Promise<Branches> {
  const share = createShare<Branches>();
  return (repo, timeoutMs) =>
    within(
      share(keyOf(repo), () => list(engine, repo)),
      timeoutMs,
      () =>
        new SvcError(
          "repo_unreachable",
          "The repository did not answer in time. Try again in a moment.",
          {},
          SOON,
        ),
    );
}

function keyOf(repo: RemoteRepository): string {
  return JSON.stringify([repo.id, repo.url, repo.credential]);
}

async function list(engine: Engine, repo: RemoteRepository): Promise<Branches> {
  await using remote = await openRemote(engine.remote, repo);
  return await engine.listings(repo.id, async () => {
    engine.listed();
    const answer = await listByLsRefs(engine, remote);
    if (answer === "other") return await listAll(engine, remote);
    if ("tips" in answer) return answer;
    throw remoteFailure(engine, remote, answer);
  });
}

/** For remotes without protocol version 2, and for ssh. */
async function listAll(engine: Engine, remote: Remote): Promise<Branches> {
  const result = await engine.runner.run({
    args: ["ls-remote", "--symref", "--quiet", "--", remote.url],
    environment: remote.environment,
    deadlineMs: engine.limits.listMs,
    stillMs: engine.limits.listStillMs,
    memory: engine.limits.fetchMemory,
    outputBytes: engine.limits.outputBytes,
  });
  if (result.code !== 0) throw remoteFailure(engine, remote, result);
  return readListing(result.stdout);
}

const HEADS = "refs/heads/";

/** Reads lines `<id> TAB <ref>` and `ref: <ref> TAB HEAD`. Names that are not UTF-8 cannot be requested and are skipped. */
export function readListing(bytes: Uint8Array): Branches {
  const tips = new Map<string, string>();
  const symbolic = new Map<string, string>();
  let head: string | null = null;
  for (const line of new TextDecoder().decode(bytes).split("\n")) {
    const [left = "", ref = ""] = line.split("\t");
    if (left.startsWith(`ref: ${HEADS}`)) {
      const target = left.slice(`ref: ${HEADS}`.length);
      if (ref === "HEAD") head = target;
      else if (ref.startsWith(HEADS)) symbolic.set(ref.slice(HEADS.length), target);
    } else if (ref.startsWith(HEADS) && !ref.includes("\ufffd") && !ref.endsWith("^{}"))
      tips.set(ref.slice(HEADS.length), left);
  }
  return { tips, head, symbolic };
}
