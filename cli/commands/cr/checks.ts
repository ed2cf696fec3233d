import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Check } from "../../../src/contract/check.ts";
import type { ChecksSummary, CombinedStatus, CommitStatus } from "../../../src/contract/commit-status.ts";
import { path as at } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { openDashboard } from "../../open-page.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/cr-review.ts";
import { count, oneLine } from "../../text.ts";
import { type ShownStatus, statusesText } from "../checks/show-statuses.ts";
import { showCheckLog } from "./check-log.ts";
import { type Found, findCr, readCr } from "./reference.ts";
import { handOver } from "./send.ts";

const POLL_MS = 3_000;
/** The default of --timeout with --watch: a long build. */
const WATCH_SECONDS = 3_600;

export const checks: Handler<typeof table.checks> = async (context, { args, flags }) => {
  const found = await findCr(context, args.cr);
  const { log, rerun, send } = flags;
  if (flags.web) return openDashboard(context, found.api, found.path);
  if ([log, rerun, send || undefined].filter((flag) => flag !== undefined).length > 1)
    throw usage("Only one of --log, --rerun and --send can be used at a time.", "Leave out the others.");
  if (send) return handOver(context, found, "checks/send-to-session", "Sent the failed checks");
  if (rerun !== undefined) await runAgain(context, found, rerun);
  if (log !== undefined) return showCheckLog(context, found, log, flags.watch);
  let cr = await readCr(found);
  if (flags.watch && cr.checks.state === "pending") {
    const ends = Date.now() + (context.globals.timeout ?? WATCH_SECONDS) * 1000;
    await context.out.note(`Waiting for ${openText(cr.checks)}. Ctrl-C ends the wait, not the checks.`);
    while (cr.checks.state === "pending" && Date.now() < ends) {
      await Bun.sleep(POLL_MS);
      cr = await readCr(found);
    }
  }
  const statuses = await statusesOf(found, cr);
  await context.out.result(statuses, (view) => statusesText(statuses, view));
  if (statuses.length === 0) await context.out.note(`No checks were reported for #${cr.number}.`);
  const { state, failed } = cr.checks;
  if (state === "failure")
    throw new CliError("checks_failed", `${count(failed, "check")} of #${cr.number} failed.`);
  if (state === "pending")
    throw new CliError("checks_pending", `#${cr.number} waits for ${openText(cr.checks)}.`, {
      hint: `Wait for them with: svc cr checks ${cr.number} --watch`,
    });
};

async function runAgain({ out }: Context, { api, path }: Found, name: string): Promise<void> {
  const call = { method: "POST", path: `${path}/checks/rerun`, body: { name } } as const;
  const check = await api.call<Check>(call);
  await out.note(`${oneLine(check.name)} is ${check.state} (attempt ${check.attempt}).`);
}

/** The reported checks of the head commit, and the required ones that are missing. */
async function statusesOf({ api }: Found, cr: ChangeRequest): Promise<ShownStatus[]> {
  const sha = cr.head_commit_sha;
  const statuses =
    sha === null
      ? []
      : (await api.call<CombinedStatus>({ path: at`/projects/${cr.project_id}/commits/${sha}/status` }))
          .statuses;
  const missing = cr.checks.required.filter(
    ({ context }) => !statuses.some((status) => status.context === context),
  );
  return [...statuses.map(shownOf), ...missing.map(({ context }) => ({ context, ...NOT_REPORTED }))];
}

function shownOf({ context, state, description, target_url, updated_at }: CommitStatus): ShownStatus {
  return { context, state, description, target_url, updated_at };
}

const NOT_REPORTED = { state: null, description: "Required", target_url: null, updated_at: null } as const;

function openText({ pending, required }: ChecksSummary): string {
  return count(pending + required.filter(({ state }) => state === null).length, "check");
}

/** `2 of 3 passed, 1 failed`; null if there are none and none are required. */
export function checksText({
  state,
  total,
  passed,
  failed,
  pending,
  required,
}: ChecksSummary): string | null {
  if (state === "none") return null;
  const missing = required.filter((check) => check.state === null).length;
  const rest = [
    failed > 0 && `${failed} failed`,
    pending > 0 && `${pending} pending`,
    missing > 0 && `${missing} required not reported`,
  ].filter((text) => text !== false);
  return [`${passed} of ${total + missing} passed`, ...rest].join(", ");
}
