import { DISK_FULL, isDiskFullMessage } from "../../contract/disk-full.ts";
import type { Engine } from "../run/engine.ts";
import { redact } from "../run/redact.ts";
import { cleanUp } from "./clean-up.ts";
import { isOutOfSpace } from "./disk-space.ts";
import type { Mirror } from "./mirror.ts";

/** A change of one ref; null: the ref does not exist. */
export interface RefUpdate {
  /** The full name, checked. */
  ref: string;
  from: string | null;
  to: string | null;
}

/** Why no ref was changed. */
export interface RefFailure {
  /** A ref did not have its expected value. */
  stale: boolean;
  /** Git was stopped: the refs may or may not have changed. */
  stopped: boolean;
  words: string;
}

/**
 * Changes refs of a mirror, all or none, each only from its expected value unless `anywhere` is set.
 * @returns the error, or null
 */
export async function updateRefs(
  engine: Engine,
  mirror: Mirror,
  updates: readonly RefUpdate[],
  options: { anywhere: boolean } = { anywhere: false },
): Promise<RefFailure | null> {
  if (updates.length === 0) return null;
  await cleanUp(mirror);
  const result = await engine.refs.change(() =>
    engine.runner.run({
      args: ["update-ref", "--no-deref", "--stdin", "-z"],
      environment: mirror.environment,
      stdin: updates.map((update) => commandOf(update, options.anywhere)).join(""),
      deadlineMs: engine.limits.mergeMs,
      outputBytes: 1024,
    }),
  );
  if (result.code === 0) return null;
  if (result.code === null) mirror.unclean = true;
  const words = redact(
    result.stderr.replace(/^(?:fatal|error): /gm, ""),
    [],
    [mirror.directory, ...Object.values(engine.directories)],
  );
  const stopped = result.code === null;
  const stale = STALE.test(words);
  if (!stale && (isDiskFullMessage(words) || (await isOutOfSpace(mirror.directory))))
    return { stale, stopped, words: DISK_FULL };
  return { stale, stopped, words };
}

const STALE =
  /but expected|reference already exists|reference is missing|unable to resolve reference|\.lock': File exists/i;

/** In this format an empty value matches any. */
function commandOf({ ref, from, to }: RefUpdate, anywhere: boolean): string {
  if (to === null) return `delete ${ref}\0${anywhere ? "" : (from ?? "")}\0`;
  if (anywhere) return `update ${ref}\0${to}\0\0`;
  return from === null ? `create ${ref}\0${to}\0` : `update ${ref}\0${to}\0${from}\0`;
}
