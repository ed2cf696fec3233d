import type { Engine } from "../run/engine.ts";
import { engineFailure } from "../run/failure.ts";
import type { Mirror } from "./mirror.ts";

/** Every fetch reads every ref, and a loose ref is a file: 1,000 kept merges made a fetch five times as long. */
const PACK_EVERY = 64;

/** What is kept of a change request: the commits of its merge, and those that its head has had. */
const NAME = /^(?:base|merge|head\/([1-9]\d{0,8}))$/;

/**
 * Points refs/cr/<number>/<name> at commits of the mirror, in one transaction.
 * @param commits by name: `base`, `merge`, `head/1`, `head/2`, …
 * @throws SvcError `merge_engine_failed`; MirrorSuspect
 */
export async function keepCommits(
  engine: Engine,
  mirror: Mirror,
  number: number,
  commits: Readonly<Record<string, string>>,
): Promise<void> {
  if (!Number.isSafeInteger(number) || number < 1)
    throw new TypeError("a change request's number is a positive integer");
  const names = Object.keys(commits).map((name) => NAME.exec(name));
  if (names.includes(null)) throw new TypeError("a kept commit is base, merge or head/<number>");
  const lines = Object.entries(commits).map(
    ([name, commit]) => `update refs/cr/${number}/${name} ${commit}\n`,
  );
  const result = await engine.refs.change(() =>
    engine.runner.run({
      args: ["update-ref", "--stdin"],
      environment: mirror.environment,
      stdin: lines.join(""),
      deadlineMs: engine.limits.mergeMs,
      outputBytes: 1024,
    }),
  );
  if (result.code === null) mirror.unclean = true;
  if (result.code !== 0) throw engineFailure(engine, "keeping the commits", result);
  const heads = names.map((name) => Number(name?.[1] ?? 0));
  if ((number + Math.max(...heads)) % PACK_EVERY === 0) await packRefs(engine, mirror);
}

async function packRefs(engine: Engine, mirror: Mirror): Promise<void> {
  const result = await engine.runner.run({
    args: ["pack-refs", "--all"],
    environment: mirror.environment,
    deadlineMs: engine.limits.mergeMs,
    outputBytes: 1024,
  });
  if (result.code === null) mirror.unclean = true;
}
