import type { Engine } from "../run/engine.ts";
import type { Mirror } from "./mirror.ts";

/** Faults that a fetch accepts (environment.ts) are not damage. */
const TOLERATED = ["missingSpaceBeforeDate", "badTimezone", "zeroPaddedFilemode", "badFilemode"];

/** A bit of git-fsck's exit status: HEAD names no branch, as in a mirror that no client has read yet. */
const HEAD_FAULT = 8;

/**
 * Whether a mirror is damaged: git reads every object of it, and follows every ref. A large one takes minutes.
 * @returns false if git could not finish, too: a mirror is not replaced because the server is busy
 */
export async function isDamaged(engine: Engine, mirror: Mirror): Promise<boolean> {
  const result = await engine.checks(mirror.id, () =>
    engine.runner.run({
      args: [
        ...TOLERATED.flatMap((name) => ["-c", `fsck.${name}=ignore`]),
        "fsck",
        "--full",
        "--no-dangling",
        "--no-reflogs",
        "--no-progress",
      ],
      environment: mirror.environment,
      deadlineMs: engine.limits.fetchMs,
      memory: engine.limits.fetchMemory,
      outputBytes: engine.limits.outputBytes,
    }),
  );
  const { code, stopped } = result;
  if (code === null && stopped !== "closing")
    engine.log.warn({ repo: mirror.id, stopped }, "a mirror could not be inspected for damage");
  return code !== null && (code & ~HEAD_FAULT) !== 0;
}
