import { join } from "node:path";
import { saysDiskFull } from "../../contract/disk-full.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import { tips } from "./completeness.ts";
import { type Mirror, restoreHead } from "./mirror.ts";
import { updateRefs } from "./update-refs.ts";

/** The refs that no host has for certain: commits of merged change requests, saved work. */
const OWN = ["refs/cr", "refs/svc"];

/**
 * Copies svc's own refs, with all that they reach, from a mirror that may be damaged into another. Each ref comes whole
 * or not at all; what is lost is logged as an error.
 * @param seen what an earlier call has looked at
 * @returns each ref that was there → its commit
 * @throws SvcError when git could not finish: then nothing is known to be lost
 */
export async function copyOwnRefs(
  engine: Engine,
  from: Mirror,
  to: Mirror,
  seen: ReadonlyMap<string, string> = new Map(),
): Promise<ReadonlyMap<string, string>> {
  await restoreHead(from);
  const own = await ownRefs(engine, from);
  if (own === null) engine.log.error({ repo: from.id }, UNREADABLE);
  const wanted = [...(own ?? [])].filter(([ref, id]) => seen.get(ref) !== id);
  if (wanted.length === 0) return seen;
  const kept = await copyAll(engine, from, to, wanted);
  const failure = await updateRefs(
    engine,
    to,
    kept.map(([ref, id]) => ({ ref, from: null, to: id })),
    { anywhere: true },
  );
  if (failure) throw new Error(`svc's own refs could not be carried over: ${failure.words}`);
  const lost = wanted.filter((each) => !kept.includes(each)).map(([ref]) => ref);
  if (lost.length > 0) engine.log.error({ repo: from.id, lost: lost.slice(0, LOGGED_MAX) }, LOST);
  return new Map([...seen, ...wanted]);
}

const UNREADABLE = "the damaged mirror's refs cannot be read: commits that only it held are lost";
const LOST = "commits that only the damaged mirror held are lost";
const LOGGED_MAX = 100;

type Ref = readonly [ref: string, id: string];

/** All at once, which is cheapest; when one of them is damaged, each by itself. */
async function copyAll(engine: Engine, from: Mirror, to: Mirror, refs: readonly Ref[]): Promise<Ref[]> {
  const known = await tips(engine, to);
  const ids = (some: readonly Ref[]) => [...new Set(some.map(([, id]) => id))];
  if (await copyObjects(engine, from, to, ids(refs), known)) return [...refs];
  const kept: Ref[] = [];
  for (const each of refs) if (await copyObjects(engine, from, to, ids([each]), known)) kept.push(each);
  return kept;
}

/** Packs what `ids` reach and `known` do not: git reads every object of it. @returns whether all was there */
async function copyObjects(
  engine: Engine,
  from: Mirror,
  to: Mirror,
  ids: readonly string[],
  known: readonly string[],
): Promise<boolean> {
  const result = await engine.runner.run({
    args: [
      "pack-objects",
      "--revs",
      "--quiet",
      "--non-empty",
      "--delta-base-offset",
      join(to.directory, "objects", "pack", "pack"),
    ],
    environment: {
      ...to.environment,
      // quoted as C strings are: the list is separated by colons
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(from.directory, "objects")),
    },
    stdin: `${[...ids, ...known.map((id) => `^${id}`)].join("\n")}\n`,
    deadlineMs: engine.limits.fetchMs,
    memory: engine.limits.fetchMemory,
    outputBytes: engine.limits.outputBytes,
  });
  if (result.code === 0) return true;
  // no verdict on the objects
  if (result.code === null || saysDiskFull(result.stderr))
    throw engineFailure(engine, "copying svc's own refs", result);
  return false;
}

/** Null when git cannot list them. */
async function ownRefs(engine: Engine, mirror: Mirror): Promise<Map<string, string> | null> {
  const result = await engine.runner.run({
    args: ["for-each-ref", "--format=%(refname) %(objectname)", ...OWN],
    environment: mirror.environment,
    deadlineMs: engine.limits.mergeMs,
    outputBytes: engine.limits.outputBytes,
  });
  if (result.code !== 0) return null;
  const lines = new TextDecoder().decode(result.stdout).split("\n").filter(Boolean);
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]),
  );
}
