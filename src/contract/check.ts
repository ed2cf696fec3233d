import { type Static, Type } from "@sinclair/typebox";
import { CONTEXT_MAX, CONTEXT_PATTERN } from "./limits.ts";
import { nullable, oneOf } from "./schema.ts";

/**
 * The states of a check that svc runs: waiting for a sandbox, running, passed, failed, not run to its end for another
 * reason (such as a sandbox that died), or no longer wanted.
 */
export const CHECK_STATES = ["queued", "running", "success", "failure", "error", "cancelled"] as const;
export type CheckState = (typeof CHECK_STATES)[number];

const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });

/** A check that svc runs on a commit. A re-run is the same check with the next attempt. */
export const check = Type.Object({
  check_id: uuid,
  name: Type.String({ description: "The context of the commit status that it reports" }),
  sha: Type.String(),
  state: oneOf(CHECK_STATES),
  description: nullable(Type.String({ description: "Its result, in a few words" })),
  command: Type.String(),
  timeout_minutes: Type.Integer(),
  attempt: Type.Integer({ minimum: 1 }),
  created_at: time,
  started_at: nullable(time),
  ended_at: nullable(time),
});
export type Check = Static<typeof check>;

/** Answer of `GET …/change-requests/:crId/checks`: those of the last commit. */
export const checkList = Type.Object({ checks: Type.Array(check) });
export type CheckList = Static<typeof checkList>;

/** Body of `POST …/change-requests/:crId/checks/rerun`. */
export const rerunCheckBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: CONTEXT_MAX, pattern: CONTEXT_PATTERN }),
});

/** The source of a line in the log of a check: svc, or the command. */
export const CHECK_LOG_SOURCES = ["svc", "check"] as const;

export const checkLogLine = Type.Object({
  at: nullable(time),
  source: oneOf(CHECK_LOG_SOURCES),
  text: Type.String({ description: "Without control characters" }),
});
export type CheckLogLine = Static<typeof checkLogLine>;

/** Answer of `GET …/checks/:checkId/log`: the end of the log of the last attempt. */
export const checkLog = Type.Object({
  check,
  lines: Type.Array(checkLogLine),
  truncated: Type.Boolean({ description: "Whether earlier lines were left out" }),
});
export type CheckLog = Static<typeof checkLog>;
