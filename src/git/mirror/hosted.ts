import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Branches, PushOutcome, PushRequest } from "../git.ts";
import { readListing } from "../remote/branches.ts";
import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import type { Mirror } from "./mirror.ts";
import { type RefUpdate, updateRefs } from "./update-refs.ts";

/** The branches of a repository that svc hosts. */
export async function listHosted(engine: Engine, mirror: Mirror): Promise<Branches> {
  const result = await engine.runner.run({
    args: ["for-each-ref", "--format=%(objectname)%09%(refname)", "refs/heads"],
    environment: mirror.environment,
    deadlineMs: engine.limits.listMs,
    outputBytes: engine.limits.outputBytes,
  });
  if (result.code !== 0) throw engineFailure(engine, "listing the branches", result);
  engine.listed();
  const { tips } = readListing(result.stdout);
  return { tips, head: await headOf(mirror, tips), symbolic: new Map() };
}

/** Moves a branch of a repository that svc hosts, as a push to a remote would: the expected commit is the lease. */
export async function moveHosted(engine: Engine, mirror: Mirror, request: PushRequest): Promise<PushOutcome> {
  const update: RefUpdate = { ref: `refs/heads/${request.branch}`, from: request.from, to: request.to };
  const failure = await updateRefs(engine, mirror, [update]);
  if (failure === null) return { outcome: "moved" };
  if (failure.stopped) return { outcome: "unknown", reason: failure.words };
  return failure.stale ? { outcome: "stale" } : { outcome: "rejected", reason: failure.words };
}

async function headOf(mirror: Mirror, tips: ReadonlyMap<string, string>): Promise<string | null> {
  const text = await readFile(join(mirror.directory, "HEAD"), "utf8").catch(() => "");
  const branch = /^ref: refs\/heads\/(.+)\n$/.exec(text)?.[1];
  return branch !== undefined && tips.has(branch) ? branch : null;
}
