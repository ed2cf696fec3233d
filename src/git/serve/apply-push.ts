import { isRemote, type RemoteRepository, type Repository } from "../git.ts";
import { type Mirror, markComplete } from "../mirror/mirror.ts";
import { type RefUpdate, updateRefs } from "../mirror/update-refs.ts";
import type { Engine } from "../run/engine.ts";
import { forward } from "./forward.ts";
import type { Quarantine } from "./quarantine.ts";
import { listRefs } from "./ref-list.ts";
import type { Report } from "./report.ts";

/** Attempts when git is killed; further ones would probably be killed, too. */
const TRIES = 2;

/** Where a push goes. */
export interface Target {
  repo: Repository;
  mirror: Mirror;
  /** Changes refs of the mirror while no fetch runs. */
  write<T>(work: () => Promise<T>): Promise<T>;
  /** The push updates one of svc's own refs: svc's repository decides, also if there is a git host. */
  own?: unknown;
}

/** A push whose objects are in the quarantine and which the rules allow. */
export interface AllowedPush {
  updates: readonly RefUpdate[];
  quarantine: Quarantine;
  atomic: boolean;
  report: Report;
}

/** Each requested ref → why it was not changed, or null. */
export type Verdicts = Map<string, string | null>;

/**
 * Changes the refs, on the git host first when there is one.
 * @throws Error if svc's own repository has not changed
 */
export async function applyPush(engine: Engine, target: Target, push: AllowedPush): Promise<Verdicts> {
  // deleting a ref that does not exist is allowed and changes nothing
  const done: Verdicts = new Map(push.updates.map(({ ref }) => [ref, null]));
  const updates = push.updates.filter(({ from, to }) => from !== to);
  if (updates.length === 0) return done;
  const { repo } = target;
  const changed =
    isRemote(repo) && !target.own
      ? await pass(engine, target, repo, { ...push, updates })
      : await take(engine, target, { ...push, updates });
  await engine.checkpoint("refs-changed");
  return new Map([...done, ...changed]);
}

/** A repository on a git host: the host decides. */
async function pass(
  engine: Engine,
  target: Target,
  repo: RemoteRepository,
  push: AllowedPush,
): Promise<Verdicts> {
  const done = await forward(engine, repo, target.mirror, push);
  await engine.checkpoint("forwarded");
  const arrived = push.updates.filter(({ ref }) => done.get(ref) === null);
  try {
    if (arrived.length > 0) await follow(engine, target, push.quarantine, arrived);
  } catch (error) {
    // the host has it, and the next fetch gets it
    engine.log.warn(
      { repo: repo.id, err: error },
      "the mirror could not be updated after a push to its host",
    );
  }
  return done;
}

async function follow(
  engine: Engine,
  { mirror, write }: Target,
  quarantine: Quarantine,
  arrived: readonly RefUpdate[],
): Promise<void> {
  const failure = await write(async () => {
    await quarantine.accept();
    markPushed(mirror, arrived);
    await engine.checkpoint("objects-taken");
    return await updateRefs(engine, mirror, arrived, { anywhere: true });
  });
  if (failure) throw new Error(failure.words);
}

/** A repository that svc hosts. */
async function take(
  engine: Engine,
  target: Target,
  { quarantine, updates, atomic }: AllowedPush,
): Promise<Verdicts> {
  await quarantine.accept();
  markPushed(target.mirror, updates);
  await engine.checkpoint("objects-taken");
  const whole = await change(engine, target, updates);
  if (whole.reason === null) return new Map(updates.map(({ ref }) => [ref, null]));
  if (atomic) {
    await undo(engine, target, whole.changed);
    return new Map(updates.map(({ ref }) => [ref, whole.reason]));
  }
  const done: Verdicts = new Map(whole.changed.map(({ ref }) => [ref, null]));
  for (const update of updates) {
    if (!done.has(update.ref)) done.set(update.ref, (await change(engine, target, [update])).reason);
  }
  return done;
}

/** Why not all refs were changed, or null; and those that were, if git was killed halfway. */
interface Change {
  reason: string | null;
  changed: readonly RefUpdate[];
}

/** Git changes all refs or none, unless it is killed: then the missing ones are retried. */
async function change(
  engine: Engine,
  { mirror, write }: Target,
  updates: readonly RefUpdate[],
): Promise<Change> {
  let missing = updates;
  const after = (reason: string | null): Change => ({
    reason,
    changed: updates.filter((update) => !missing.includes(update)),
  });
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const failure = await write(() => updateRefs(engine, mirror, missing));
    if (failure === null) return { reason: null, changed: updates };
    if (!failure.stopped) return after(failure.stale ? "fetch first" : failure.words);
    const refs = await listRefs(engine, mirror);
    missing = missing.filter(({ ref, to }) => (refs.get(Buffer.from(ref).toString("latin1")) ?? null) !== to);
    if (missing.length === 0) return after(null);
  }
  return after("svc's git was stopped: push again");
}

/** Reverts an incomplete atomic push, except refs that have changed since. */
async function undo(engine: Engine, { mirror, write }: Target, changed: readonly RefUpdate[]): Promise<void> {
  const back = changed.map(({ ref, from, to }) => ({ ref, from: to, to: from }));
  const failure = await write(() => updateRefs(engine, mirror, back));
  if (failure) engine.log.warn({ reason: failure.words }, "an incomplete push could not be reverted");
}

/** The pushed commits were checked with everything reachable from them. */
function markPushed(mirror: Mirror, updates: readonly RefUpdate[]): void {
  const branches = updates.filter(({ ref }) => ref.startsWith("refs/heads/"));
  markComplete(
    mirror,
    branches.flatMap(({ to }) => to ?? []),
  );
}
