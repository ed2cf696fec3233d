import { SvcError } from "../../contract/errors.ts";
import type { Engine } from "../engine.ts";
import type { Branches, PushOutcome, RemoteRepository } from "../git.ts";
import type { Mirror } from "../mirror.ts";
import { pushRefs } from "../push.ts";
import { openRemote } from "../remote.ts";
import type { RefUpdate } from "../update-refs.ts";
import type { Quarantine } from "./quarantine.ts";
import type { Report } from "./report.ts";

/** Refs that one forwarded push changes: they are arguments of one command. */
const FORWARDED_MAX = 1_000;
/** A host that takes longer than this is worth a line. */
const SLOW_MS = 2_000;
const ASK_AGAIN_MS = 20_000;

/**
 * Passes a push on to the repository's host, out of the quarantine. When the host's answer is lost, the host is asked
 * for its branches.
 * @returns for each ref why the host did not take it, or null
 */
export async function forward(
  engine: Engine,
  push: { repo: RemoteRepository; mirror: Mirror; quarantine: Quarantine; atomic: boolean },
  updates: readonly RefUpdate[],
  report: Report,
  list: (repo: RemoteRepository, timeoutMs: number) => Promise<Branches>,
): Promise<Map<string, string | null>> {
  if (updates.length > FORWARDED_MAX) {
    return all(updates, `a push to a git host changes at most ${FORWARDED_MAX} refs: push them in parts`);
  }
  try {
    const outcomes = await send(engine, push, updates, report);
    const isLost = updates.some(({ ref }) => outcomes.get(ref)?.outcome === "unknown");
    const listing = isLost ? await list(push.repo, ASK_AGAIN_MS).catch(() => null) : null;
    return new Map(
      updates.map((update) => [update.ref, reasonOf(update, outcomes.get(update.ref), listing)]),
    );
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    report.say(error.message);
    return all(updates, "the git host could not be reached");
  }
}

async function send(
  engine: Engine,
  { repo, mirror, quarantine, atomic }: Parameters<typeof forward>[1],
  updates: readonly RefUpdate[],
  report: Report,
): Promise<Map<string, PushOutcome>> {
  await using remote = await openRemote(engine.remote, repo);
  const slow = setTimeout(() => report.say(`Passing the push on to ${remote.place} …`), SLOW_MS);
  try {
    const { outcomes, said } = await pushRefs(engine, remote, updates, {
      environment: { GIT_DIR: mirror.directory, ...quarantine.objects },
      atomic,
      deadlineMs: engine.limits.forwardMs,
    });
    for (const line of said) report.say(line);
    return outcomes;
  } finally {
    clearTimeout(slow);
  }
}

function reasonOf(
  update: RefUpdate,
  outcome: PushOutcome | undefined,
  listing: Branches | null,
): string | null {
  if (outcome?.outcome === "moved") return null;
  if (outcome?.outcome === "stale") return "fetch first";
  if (outcome?.outcome === "rejected") return outcome.reason.split("\n")[0] || "the git host refused it";
  const branch = /^refs\/heads\/(.+)$/.exec(update.ref)?.[1];
  if (listing && branch !== undefined) {
    return (listing.tips.get(branch) ?? null) === update.to ? null : "the git host did not take it";
  }
  return "the git host did not say whether it took it: fetch, and look";
}

function all(updates: readonly RefUpdate[], reason: string): Map<string, string | null> {
  return new Map(updates.map(({ ref }) => [ref, reason]));
}
