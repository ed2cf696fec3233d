import { DISK_FULL, isDiskFull } from "../../contract/disk-full.ts";
import { SvcError } from "../../contract/errors.ts";
import { VERSION } from "../../contract/version.ts";
import {
  type Branches,
  isRemote,
  type PushJudge,
  type ReceiveRequest,
  type RemoteRepository,
  type Transfer,
} from "../git.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { RefUpdate } from "../mirror/update-refs.ts";
import { refFault } from "../refs.ts";
import { FLUSH, packet } from "../remote/pkt-line.ts";
import type { Engine } from "../run/engine.ts";
import { outOfBounds } from "./bounds.ts";
import { carryOut, type Target, type Verdicts } from "./carry-out.ts";
import type { Intake } from "./intake.ts";
import type { PushHead } from "./push-request.ts";
import { openQuarantine, type Quarantine } from "./quarantine.ts";
import { listRefs } from "./ref-list.ts";
import { examineAll } from "./relation.ts";
import { createReport, type Report } from "./report.ts";
import { checkConnected, unpack } from "./unpack.ts";

/** What a push works with, beside the engine. */
export interface PushContext extends Target {
  judge: PushJudge;
  list(repo: RemoteRepository, timeoutMs: number): Promise<Branches>;
  own?: ReceiveRequest["own"];
  changed?: ReceiveRequest["changed"];
}

/**
 * The answer to `GET info/refs?service=git-receive-pack`: all branches and tags, and what this end can do.
 * @param own one of svc's own refs, for a pusher that may move it
 */
export async function advertiseReceive(engine: Engine, mirror: Mirror, own?: string): Promise<Uint8Array> {
  const refs = [...(await listRefs(engine, mirror, own === undefined ? [] : [own]))].map(
    ([ref, id]) => `${id} ${ref}`,
  );
  const nothing = `${"0".repeat(mirror.format === "sha256" ? 64 : 40)} capabilities^{}`;
  const [first = nothing, ...others] = refs;
  const lines = [
    `${first}\0${CAPABILITIES} object-format=${mirror.format} agent=svc/${VERSION}\n`,
    ...others.map((ref) => `${ref}\n`),
  ];
  const packets = lines.map((line) => packet(Buffer.from(line, "latin1")));
  return Buffer.concat([packet("# service=git-receive-pack\n"), FLUSH, ...packets, FLUSH]);
}

const LIST_MS = 20_000;
const CAPABILITIES = "report-status delete-refs side-band-64k quiet atomic ofs-delta push-options";

/**
 * Answers `POST git-receive-pack` (gitprotocol-pack, "Pushing Data To a Server"). The objects go into a quarantine,
 * the rules are asked, the host is asked, and only then the refs change: what is refused leaves nothing behind.
 *
 * 1. The rules are checked at once as if every change were a fast-forward: a push that is refused anyway costs only
 *    its bytes.
 * 2. The pack goes into a quarantine that only this push's git processes see. It is checked as it arrives, then
 *    measured: inflated size, and the depth and number of the paths that it changes.
 * 3. Each change is classified (create, fast-forward, rewrite, delete), and the rules are checked again.
 * 4. For a repository on a git host: `git push` from the quarantine, each ref with a lease on the value that the
 *    client saw. The host decides.
 * 5. The objects move into the repository, and its refs change by compare-and-swap. Then the client gets its report.
 *    After a crash the next start removes the quarantine, and the host or the ref tells what happened.
 *
 * @param intake what follows the commands
 * @returns the answer, once the client has said everything; `ended` settles when the push has
 */
export async function receive(
  engine: Engine,
  context: PushContext,
  head: PushHead,
  intake: Intake,
): Promise<Transfer> {
  const report = createReport(head.capabilities);
  const ended = push(engine, context, head, intake, report).catch((error: unknown) => {
    if (!(error instanceof SvcError))
      engine.log.error({ repo: context.repo.id, err: error }, "a push failed");
    report.end(wordsOf(error), new Map(head.updates.map(({ ref }) => [ref, "unpacker error"])));
  });
  // many clients listen only when they have said everything
  await Promise.race([ended, intake.finished]);
  return { answer: report.stream, ended };
}

/** Only a `SvcError`'s own words leave the server. */
function wordsOf(error: unknown): string {
  if (isDiskFull(error)) return DISK_FULL;
  return error instanceof SvcError ? error.message : "something went wrong inside svc";
}

async function push(
  engine: Engine,
  context: PushContext,
  head: PushHead,
  intake: Intake,
  report: Report,
): Promise<void> {
  const verdicts: Verdicts = new Map();
  if (head.updates.length === 0) {
    await intake.drain();
    return report.end(null, verdicts);
  }
  const aliases = askAliases(context);
  // it is waited for below, if it matters by then
  aliases.catch(() => {});
  await engine.checkpoint("commands-read");
  await using quarantine = await openQuarantine(engine, context.mirror);
  const fault = await decide(engine, context, head, intake, quarantine, verdicts, report);
  await intake.drain();
  await engine.checkpoint("judged");
  if (head.options > 0) report.say("svc: push options are not passed on.");
  if (fault === null) {
    refuseAliases(head, await aliases, verdicts, report);
    const atomic = head.capabilities.has("atomic");
    const allowed = { updates: open(head, verdicts), quarantine, atomic, report };
    for (const [ref, reason] of await carryOut(engine, context, allowed)) verdicts.set(ref, reason);
  }
  await tellOwn(context, head, verdicts);
  await tellChanged(context, head, verdicts);
  report.end(fault, verdicts);
}

async function tellOwn({ own }: PushContext, head: PushHead, verdicts: Verdicts): Promise<void> {
  const update = head.updates.find(({ ref }) => ref === own?.ref);
  if (own && update && verdicts.get(update.ref) === null) await own.changed(update.to);
}

async function tellChanged({ changed }: PushContext, head: PushHead, verdicts: Verdicts): Promise<void> {
  const moved = head.updates.filter(({ ref, from, to }) => from !== to && verdicts.get(ref) === null);
  const refs = moved.map(({ ref, from, to }) => {
    const kind = to === null ? "deleted" : from === null ? "created" : "changed";
    return { ref, kind } as const;
  });
  if (refs.length > 0) await changed?.(refs);
}

/**
 * Asks the rules twice: before the pack is read, as if every change were a fast-forward, so that what is refused anyway
 * costs nothing; and once more when the commits are there.
 * @returns why the pack was not taken, or null
 */
async function decide(
  engine: Engine,
  context: PushContext,
  head: PushHead,
  intake: Intake,
  quarantine: Quarantine,
  verdicts: Verdicts,
  report: Report,
): Promise<string | null> {
  for (const update of head.updates) {
    const kind = update.to === null ? "delete" : update.from === null ? "create" : "fast-forward";
    const invalid = refFault(update.ref);
    if (invalid) verdicts.set(update.ref, `not a ref name: ${invalid}`);
    else await judge(context, { ...update, kind }, verdicts, report);
  }
  refuseTogether(head, verdicts);
  const ids = open(head, verdicts).flatMap(({ to }) => to ?? []);
  if (ids.length > 0) {
    const unknown = ids.filter((id) => !context.mirror.complete.has(id));
    const fault =
      (await unpack(engine, quarantine, intake, report.progress)) ??
      (await outOfBounds(engine, quarantine, open(head, verdicts))) ??
      (unknown.length > 0 ? await checkConnected(engine, quarantine, unknown) : null);
    if (fault !== null) {
      for (const { ref } of open(head, verdicts)) verdicts.set(ref, "unpacker error");
      return fault;
    }
    await engine.checkpoint("unpacked");
  }
  for (const [update, kind] of await examineAll(engine, quarantine, open(head, verdicts))) {
    if (kind === "not a commit") verdicts.set(update.ref, "a branch names a commit, and this is none");
    else if (kind === "unknown") verdicts.set(update.ref, "fetch first");
    else await judge(context, { ...update, kind }, verdicts, report);
  }
  refuseTogether(head, verdicts);
  return null;
}

async function judge(
  context: PushContext,
  update: Parameters<PushJudge>[0],
  verdicts: Verdicts,
  report: Report,
): Promise<void> {
  const refusal = await context.judge(update);
  if (!refusal) return;
  verdicts.set(update.ref, refusal.reason);
  report.say(`svc: ${update.ref}: ${refusal.reason}. ${refusal.advice}`);
}

/**
 * On a git host, a branch may be another name of the default one, and would move it. The host is asked meanwhile.
 * @returns what it said, or why it could not be asked
 */
async function askAliases({ repo, list, own }: PushContext): Promise<Branches["symbolic"] | SvcError> {
  try {
    return isRemote(repo) && !own ? (await list(repo, LIST_MS)).symbolic : new Map();
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
}

function refuseAliases(
  head: PushHead,
  aliases: Branches["symbolic"] | SvcError,
  verdicts: Verdicts,
  report: Report,
): void {
  if (aliases instanceof SvcError) report.say(aliases.message);
  for (const { ref } of open(head, verdicts)) {
    if (aliases instanceof SvcError) {
      verdicts.set(ref, "the git host could not be reached");
      continue;
    }
    const target = aliases.get(ref.replace(/^refs\/heads\//, ""));
    if (target !== undefined)
      verdicts.set(ref, `another name of ${target} on its host: push ${target} itself`);
  }
  refuseTogether(head, verdicts);
}

/** Of an atomic push all refs change or none. */
function refuseTogether(head: PushHead, verdicts: Verdicts): void {
  if (!head.capabilities.has("atomic") || verdicts.size === 0) return;
  for (const { ref } of open(head, verdicts))
    verdicts.set(ref, "atomic push failed: another ref was refused");
}

function open(head: PushHead, verdicts: Verdicts): RefUpdate[] {
  return head.updates.filter(({ ref }) => !verdicts.has(ref));
}
