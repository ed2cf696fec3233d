import type { Db } from "../../../db/client.ts";
import type { ChecksSummary } from "../../contract/commit-status.ts";
import { SvcError } from "../../contract/errors.ts";
import { shorten } from "../../http/text.ts";
import type { Protection } from "../projects/protection.ts";
import { hasFailed, type Reported, reportedOf, worstOf } from "./statuses.ts";

/** The checks of a commit, and those that a merge of it requires. @param reported of that commit */
export function summaryOf(
  reported: readonly Reported[],
  { requiredChecks }: Pick<Protection, "requiredChecks">,
): ChecksSummary {
  const states = reported.map(({ state }) => state);
  const failed = states.filter(hasFailed).length;
  const pending = states.filter((state) => state === "pending").length;
  const required = requiredChecks.map((context) => ({
    context,
    state: worstOf(reported.filter((each) => each.context === context).map(({ state }) => state)) ?? null,
  }));
  const isAwaited = required.some(({ state }) => state === null);
  return {
    state: combined(),
    total: states.length,
    passed: states.length - failed - pending,
    failed,
    pending,
    required,
  };

  function combined(): ChecksSummary["state"] {
    if (failed > 0) return "failure";
    if (pending > 0 || isAwaited) return "pending";
    return states.length === 0 ? "none" : "success";
  }
}

/**
 * Enforces the project's required checks for the head that is merged.
 * @throws checks_required
 */
export async function requireChecks(
  tx: Db,
  { projectId, number }: { projectId: string; number: number },
  head: string,
  rule: Pick<Protection, "requiredChecks">,
): Promise<void> {
  if (rule.requiredChecks.length === 0) return;
  const { required } = summaryOf(await reportedOf(tx, projectId, [head]), rule);
  const open = required.filter(({ state }) => state !== "success");
  if (open.length === 0) return;
  const [first, ...others] = open.map(
    ({ context, state }) => `"${shorten(context)}" ${WORDS[state ?? "none"]}`,
  );
  const more = others.length > 2 ? [...others.slice(0, 2), `${others.length - 2} more`] : others;
  throw new SvcError(
    "checks_required",
    `Change request #${number} cannot be merged before its required checks pass on its last commit: ${[first, ...more].join(", ")}. See them with: svc cr checks ${number}`,
    { checks: open },
  );
}

const WORDS = {
  none: "has not been reported",
  pending: "is pending",
  failure: "failed",
  error: "failed",
  success: "passed",
} as const;
