import { expect, test } from "bun:test";
import { openRequest, type SessionRow } from "../../src/features/sessions/row.ts";

const request = (id: string, kept: boolean) => ({
  ...{ request_id: id, kind: "question" as const, kept, permission: null, patterns: [], questions: [] },
});
const KEPT = request("kept", true);
const LIVE = request("live", false);

test.each([
  ["stopped", null, null, KEPT, "kept"],
  ["stopped", null, null, null, null],
  ["running", "idle", null, KEPT, "kept"],
  ["running", null, null, KEPT, "kept"],
  // its agent has gone on without the answer
  ["running", "working", null, KEPT, null],
  ["running", "waiting", LIVE, KEPT, "live"],
  ["running", "waiting", LIVE, null, "live"],
  ["running", "idle", null, null, null],
  ["provisioning", "waiting", LIVE, null, null],
  ["failed", null, null, KEPT, null],
] as const)(
  "of a session that is %s, with an agent that is %s, the open request is the right one",
  (status, activity, waitingFor, keptRequest, open) => {
    const row: Pick<SessionRow, "status" | "activity" | "waitingFor" | "keptRequest"> = {
      ...{ status, activity, waitingFor, keptRequest },
    };
    expect(openRequest(row)?.request_id ?? null).toBe(open);
  },
);
