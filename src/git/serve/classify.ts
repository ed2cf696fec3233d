import type { UpdateKind } from "../git.ts";
import type { RefUpdate } from "../mirror/update-refs.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import { linesOf, query } from "../run/query.ts";
import type { Quarantine } from "./quarantine.ts";

/** The kind of a ref update; "unknown" when its old commit is not here. */
type Relation = UpdateKind | "not a commit" | "unknown";

/** Bytes of an answer that is one word or number. */
const WORD_BYTES = 1024;

/**
 * Classifies ref updates by their objects. A tag that moves is always a rewrite. Starts git twice for all refs, and once
 * more for each branch that moves by several commits.
 */
export async function classifyUpdates(
  engine: Engine,
  quarantine: Quarantine,
  updates: readonly RefUpdate[],
): Promise<Map<RefUpdate, Relation>> {
  const named = updates.filter(({ ref, to }) => to !== null && namesCommits(ref));
  const types = await typesOf(engine, quarantine, distinct(named.map(({ to }) => to)));
  const isCommit = ({ to }: RefUpdate) => to !== null && types.get(to) === "commit";
  const moved = named.filter((update) => isBranch(update) && update.from !== null && isCommit(update));
  const parents = await parentsOf(engine, quarantine, distinct(moved.map(({ to }) => to)));
  const relations = new Map<RefUpdate, Relation>();
  for (const update of updates) {
    const { ref, from, to } = update;
    if (to === null) relations.set(update, "delete");
    else if (namesCommits(ref) && !isCommit(update)) relations.set(update, "not a commit");
    else if (from === null) relations.set(update, "create");
    else if (!isBranch(update)) relations.set(update, "rewrite");
    else if (from === to || parents.get(to)?.includes(from)) relations.set(update, "fast-forward");
    else relations.set(update, await relate(engine, quarantine, from, to));
  }
  return relations;
}

function isBranch({ ref }: Pick<RefUpdate, "ref">): boolean {
  return ref.startsWith("refs/heads/");
}

function namesCommits(ref: string): boolean {
  return isBranch({ ref }) || ref.startsWith("refs/svc/");
}

function distinct(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.filter((id) => id !== null))];
}

/** The types of objects, by their ids; missing objects have none. */
async function typesOf(
  engine: Engine,
  quarantine: Quarantine,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const lines = await ask(engine, quarantine, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], ids);
  return new Map(lines.map(([id = "", type = ""]) => [id, type]));
}

/** The parents of commits, by their ids. */
async function parentsOf(
  engine: Engine,
  quarantine: Quarantine,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const lines = await ask(
    engine,
    quarantine,
    ["rev-list", "--no-walk=unsorted", "--parents", "--stdin"],
    ids,
  );
  return new Map(lines.map(([id = "", ...parents]) => [id, parents]));
}

/** @returns the words of each line of git's output */
async function ask(
  engine: Engine,
  quarantine: Quarantine,
  args: readonly string[],
  ids: readonly string[],
): Promise<string[][]> {
  if (ids.length === 0) return [];
  const stdin = ids.map((id) => `${id}\n`).join("");
  const result = await query(engine, quarantine, args, { stdin });
  if (result.code !== 0) throw engineFailure(engine, "checking the push", result);
  return linesOf(result).map((line) => line.split(" "));
}

async function relate(engine: Engine, quarantine: Quarantine, from: string, to: string): Promise<Relation> {
  const args = ["merge-base", "--is-ancestor", from, to];
  const result = await query(engine, quarantine, args, { outputBytes: WORD_BYTES });
  if (result.code === null) throw engineFailure(engine, "checking the push", result);
  if (result.code === 0) return "fast-forward";
  return result.code === 1 ? "rewrite" : "unknown";
}
