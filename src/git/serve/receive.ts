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
import { applyPush, type Target, type Verdicts } from "./apply-push.ts";
import { checkLimits } from "./check-limits.ts";
import { classifyUpdates } from "./classify.ts";
import type { PushHead } from "./push-request.ts";
import { openQuarantine, type Quarantine } from "./quarantine.ts";
import { listRefs } from "./ref-list.ts";
import { createReport, type Report } from "./report.ts";
import type { RequestReader } from "./request-reader.ts";
import { checkConnected, unpack } from "./unpack.ts";

/** The context of a push. */
export interface PushContext extends Target {
  judge: PushJudge;
  list(repo: RemoteRepository, timeoutMs: number): Promise<Branches>;
  own?: ReceiveRequest["own"];
  changed?: ReceiveRequest["changed"];
}

/**
 * The answer to `GET info/refs?service=git-receive-pack`: all branches and tags, and the server's capabilities.
 * @param own one of svc's own refs, for a pusher that may update it
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
 * Answers `POST git-receive-pack` (gitprotocol-pack, "Pushing Data To a Server"). The refs change only after the objects
 * are in a quarantine, the rules allow the push and the host accepts it, so that a refused push leaves nothing behind.
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
 * @param reader reads what follows the commands
 * @returns the answer, once the client has sent everything; `ended` settles when the push has
 */
export async function receive(
  engine: Engine,
  context: PushContext,
  head: PushHead,
  reader: RequestReader,
): Promise<Transfer> {
  const report = createReport(head.capabilities);
  const ended = push(engine, context, head, reader, report).catch((error: unknown) => {
    if (!(error instanceof SvcError))
      engine.log.error({ repo: context.repo.id, err: error }, "a push failed");
    report.end(wordsOf(error), new Map(head.updates.map(({ ref }) => [ref, "unpacker error"])));
  });
  // many clients read only after they have sent everything
  await Promise.race([ended, reader.finished]);
  return { answer: report.stream, ended };
}

/** Only the messages of `SvcError`s are sent to clients. */
function wordsOf(error: unknown): string {
  if (isDiskFull(error)) return DISK_FULL;
  return error instanceof SvcError ? error.message : "something went wrong inside svc";
}

async function push(
  engine: Engine,
  context: PushContext,
  head: PushHead,
  reader: RequestReader,
  report: Report,
): Promise<void> {
  const verdicts: Verdicts = new Map();
  if (head.updates.length === 0) {
    await reader.drain();
    return report.end(null, verdicts);
  }
  const aliases = readAliases(context);
  // awaited below, if needed
  aliases.catch(() => {});
  await engine.checkpoint("commands-read");
  await using quarantine = await openQuarantine(engine, context.mirror);
  const fault = await decide(engine, context, head, reader, quarantine, verdicts, report);
  await reader.drain();
  await engine.checkpoint("judged");
  if (head.options > 0) report.print("svc: push options are not passed on.");
  if (fault === null) {
    refuseAliases(head, await aliases, verdicts, report);
    const atomic = head.capabilities.has("atomic");
    const allowed = { updates: open(head, verdicts), quarantine, atomic, report };
    for (const [ref, reason] of await applyPush(engine, context, allowed)) verdicts.set(ref, reason);
  }
  await notifyOwn(context, head, verdicts);
  await notifyChanged(context, head, verdicts);
  report.end(fault, verdicts);
}

async function notifyOwn({ own }: PushContext, head: PushHead, verdicts: Verdicts): Promise<void> {
  const update = head.updates.find(({ ref }) => ref === own?.ref);
  if (own && update && verdicts.get(update.ref) === null) await own.changed(update.to);
}

async function notifyChanged({ changed }: PushContext, head: PushHead, verdicts: Verdicts): Promise<void> {
  const moved = head.updates.filter(({ ref, from, to }) => from !== to && verdicts.get(ref) === null);
  const refs = moved.map(({ ref, from, to }) => {
    const kind = to === null ? "deleted" : from === null ? "created" : "changed";
    return { ref, kind, from, to } as const;
  });
  if (refs.length > 0) await changed?.(refs);
}

/**
 * Checks the rules twice: before the pack is read, as if every change were a fast-forward, so that a refusal is cheap; and
 * again when the commits are there.
 * @returns why the pack was not accepted, or null
 */
async function decide(
  engine: Engine,
  context: PushContext,
  head: PushHead,
  reader: RequestReader,
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
      (await unpack(engine, quarantine, reader, report.progress)) ??
      (await checkLimits(engine, quarantine, open(head, verdicts))) ??
      (unknown.length > 0 ? await checkConnected(engine, quarantine, unknown) : null);
    if (fault !== null) {
      for (const { ref } of open(head, verdicts)) verdicts.set(ref, "unpacker error");
      return fault;
    }
    await engine.checkpoint("unpacked");
  }
  for (const [update, kind] of await classifyUpdates(engine, quarantine, open(head, verdicts))) {
    if (kind === "not a commit")
      verdicts.set(update.ref, "a branch must name a commit, and this object is not a commit");
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
  report.print(`svc: ${update.ref}: ${refusal.reason}. ${refusal.advice}`);
}

/**
 * Reads the symbolic refs of the git host: a push to an alias of the default branch would move that branch.
 * @returns the aliases, or why they could not be read
 */
async function readAliases({ repo, list, own }: PushContext): Promise<Branches["symbolic"] | SvcError> {
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
  if (aliases instanceof SvcError) report.print(aliases.message);
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

/** An atomic push changes all refs or none. */
function refuseTogether(head: PushHead, verdicts: Verdicts): void {
  if (!head.capabilities.has("atomic") || verdicts.size === 0) return;
  for (const { ref } of open(head, verdicts))
    verdicts.set(ref, "atomic push failed: another ref was refused");
}

function open(head: PushHead, verdicts: Verdicts): RefUpdate[] {
  return head.updates.filter(({ ref }) => !verdicts.has(ref));
}
