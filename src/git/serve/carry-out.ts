import type { Engine } from "../engine.ts";
import { isRemote, type RemoteRepository, type Repository } from "../git.ts";
import { type Mirror, markComplete } from "../mirror.ts";
import { type RefUpdate, updateRefs } from "../update-refs.ts";
import { forward } from "./forward.ts";
import type { Quarantine } from "./quarantine.ts";
import { listRefs } from "./ref-list.ts";
import type { Report } from "./report.ts";

/** Where a push goes. */
export interface Target {
  repo: Repository;
  mirror: Mirror;
  /** Changes refs of the mirror while no fetch does. */
  write<T>(work: () => Promise<T>): Promise<T>;
}

/** A push whose objects are in the quarantine and which the rules allow. */
export interface AllowedPush {
  updates: readonly RefUpdate[];
  quarantine: Quarantine;
  atomic: boolean;
  report: Report;
}

/** Each ref that was asked for → why it was not changed, or null. */
export type Verdicts = Map<string, string | null>;

/**
 * Changes the refs, on the git host first when there is one.
 * @throws Error: then svc's own repository has not changed
 */
export async function carryOut(engine: Engine, target: Target, push: AllowedPush): Promise<Verdicts> {
  // to delete what is not there is allowed, and nothing to do
  const done: Verdicts = new Map(push.updates.map(({ ref }) => [ref, null]));
  const updates = push.updates.filter(({ from, to }) => from !== to);
  if (updates.length === 0) return done;
  const { repo } = target;
  const changed = isRemote(repo)
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
    // the host has it: that is what counts, and the next fetch brings it
    engine.log.warn({ repo: repo.id, err: error }, "the mirror did not follow its host");
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
    rememberWhole(mirror, arrived);
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
  rememberWhole(target.mirror, updates);
  await engine.checkpoint("objects-taken");
  const whole = await change(engine, target, updates);
  if (whole === null || atomic || updates.length === 1)
    return new Map(updates.map(({ ref }) => [ref, whole]));
  const done: Verdicts = new Map();
  for (const update of updates) done.set(update.ref, await change(engine, target, [update]));
  return done;
}

/** @returns why nothing was changed, or null */
async function change(
  engine: Engine,
  { mirror, write }: Target,
  updates: readonly RefUpdate[],
): Promise<string | null> {
  const failure = await write(() => updateRefs(engine, mirror, updates));
  if (failure?.stopped) {
    // it may have been done by then
    const refs = await listRefs(engine, mirror);
    const isDone = ({ ref, to }: RefUpdate) => (refs.get(Buffer.from(ref).toString("latin1")) ?? null) === to;
    return updates.every(isDone) ? null : "svc's git was stopped: push again";
  }
  return failure && (failure.stale ? "fetch first" : failure.words);
}

/** What was pushed was looked at: it is here with all that it reaches. */
function rememberWhole(mirror: Mirror, updates: readonly RefUpdate[]): void {
  const branches = updates.filter(({ ref }) => ref.startsWith("refs/heads/"));
  markComplete(
    mirror,
    branches.flatMap(({ to }) => to ?? []),
  );
}
