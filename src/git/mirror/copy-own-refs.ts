import { join } from "node:path";
import { isDiskFullMessage } from "../../contract/disk-full.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import { tips } from "./completeness.ts";
import { type Mirror, restoreHead } from "./mirror.ts";
import { updateRefs } from "./update-refs.ts";

/** The refs that the host may not have: commits of merged change requests, saved work. */
const OWN = ["refs/cr", "refs/svc"];

/**
 * Copies svc's own refs, with everything reachable from them, from a mirror that may be damaged into another. Each ref is
 * copied completely or not at all; lost refs are logged as an error.
 * @param seen the result of an earlier call
 * @returns each ref of the old mirror → its commit
 * @throws SvcError when git could not finish: then no loss is known
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
  if (failure) throw new Error(`svc's own refs could not be copied: ${failure.words}`);
  const lost = wanted.filter((each) => !kept.includes(each)).map(([ref]) => ref);
  if (lost.length > 0) engine.log.error({ repo: from.id, lost: lost.slice(0, LOGGED_MAX) }, LOST);
  return new Map([...seen, ...wanted]);
}

const UNREADABLE = "the refs of the damaged mirror cannot be read: commits that only it held are lost";
const LOST = "commits that only the damaged mirror held are lost";
const LOGGED_MAX = 100;

type Ref = readonly [ref: string, id: string];

/** Copies all at once, which is cheapest; if one of them is damaged, each by itself. */
async function copyAll(engine: Engine, from: Mirror, to: Mirror, refs: readonly Ref[]): Promise<Ref[]> {
  const known = await tips(engine, to);
  const ids = (some: readonly Ref[]) => [...new Set(some.map(([, id]) => id))];
  if (await copyObjects(engine, from, to, ids(refs), known)) return [...refs];
  const kept: Ref[] = [];
  for (const each of refs) if (await copyObjects(engine, from, to, ids([each]), known)) kept.push(each);
  return kept;
}

/** Packs the objects reachable from `ids` and not from `known`. @returns whether all were there */
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
  // git failed for another reason
  if (result.code === null || isDiskFullMessage(result.stderr))
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
