import { SvcError } from "../../contract/errors.ts";
import type { PushOutcome, RemoteRepository } from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { RefUpdate } from "../mirror/update-refs.ts";
import { pushRefs } from "../remote/push.ts";
import { openRemote } from "../remote/remote.ts";
import type { Engine } from "../run/engine.ts";
import type { AllowedPush, Verdicts } from "./apply-push.ts";

/** The most refs of one forwarded push: they are arguments of one command. */
const FORWARDED_MAX = 1_000;
/** The pusher is notified of a host that takes longer. */
const SLOW_MS = 2_000;

/**
 * Forwards a push from the quarantine to the repository's host. If the host's answer is lost, svc reads the host's refs.
 * @returns for each ref why the host did not accept it, or null
 */
export async function forward(
  engine: Engine,
  repo: RemoteRepository,
  mirror: Mirror,
  push: AllowedPush,
): Promise<Verdicts> {
  const { updates, report } = push;
  if (updates.length > FORWARDED_MAX) {
    return all(updates, `a push to a git host changes at most ${FORWARDED_MAX} refs: push them in parts`);
  }
  try {
    const outcomes = await send(engine, repo, mirror, push);
    const unsure = updates.filter(({ ref }) => UNSURE.has(outcomes.get(ref)?.outcome));
    const held = unsure.length > 0 ? await lookUp(engine, repo, unsure).catch(() => null) : null;
    return new Map(updates.map((update) => [update.ref, reasonOf(update, outcomes.get(update.ref), held)]));
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    report.print(error.message);
    return all(updates, "the git host could not be reached");
  }
}

/** Then the host is asked what its refs name. */
const UNSURE: ReadonlySet<PushOutcome["outcome"] | undefined> = new Set(["unknown", "stale"] as const);

async function send(
  engine: Engine,
  repo: RemoteRepository,
  mirror: Mirror,
  { updates, quarantine, atomic, report }: AllowedPush,
): Promise<Map<string, PushOutcome>> {
  await using remote = await openRemote(engine.remote, repo);
  const slow = setTimeout(() => report.print(`Forwarding the push to ${remote.label} …`), SLOW_MS);
  try {
    const { outcomes, said } = await pushRefs(engine, remote, updates, {
      environment: { GIT_DIR: mirror.directory, ...quarantine.objects },
      atomic,
      deadlineMs: engine.limits.forwardMs,
    });
    for (const line of said) report.print(line);
    return outcomes;
  } finally {
    clearTimeout(slow);
  }
}

/** The host's refs now; null when they cannot be read. */
async function lookUp(
  engine: Engine,
  repo: RemoteRepository,
  updates: readonly RefUpdate[],
): Promise<Map<string, string> | null> {
  await using remote = await openRemote(engine.remote, repo);
  const result = await engine.listings(repo.id, () =>
    engine.runner.run({
      args: ["ls-remote", "--quiet", "--refs", "--", remote.url, ...updates.map(({ ref }) => ref)],
      environment: remote.environment,
      deadlineMs: engine.limits.listMs,
      memory: engine.limits.fetchMemory,
      outputBytes: engine.limits.outputBytes,
    }),
  );
  if (result.code !== 0) return null;
  const lines = new TextDecoder().decode(result.stdout).split("\n").filter(Boolean);
  return new Map(
    lines.map((line) => [line.slice(line.indexOf("\t") + 1), line.slice(0, line.indexOf("\t"))]),
  );
}

function reasonOf(
  { ref, to }: RefUpdate,
  outcome: PushOutcome | undefined,
  held: Map<string, string> | null,
): string | null {
  if (outcome?.outcome === "moved") return null;
  // an identical push was faster: the ref already has the requested value
  if (outcome?.outcome === "stale") return held && (held.get(ref) ?? null) === to ? null : "fetch first";
  if (outcome?.outcome === "rejected") return outcome.reason.split("\n")[0] || "the git host rejected it";
  if (held) return (held.get(ref) ?? null) === to ? null : "the git host did not accept it";
  return "the answer of the git host was lost: fetch and check";
}

function all(updates: readonly RefUpdate[], reason: string): Verdicts {
  return new Map(updates.map(({ ref }) => [ref, reason]));
}
