import type { Deps } from "../../deps.ts";
import { ROUND_MS, runRounds } from "../../jobs/rounds.ts";
import { AUDIT_WAKER } from "../auth/audit.ts";
import { sealEntries } from "./seal.ts";
import { trimAudit } from "./trim.ts";

const TRIM_MS = 10 * 60_000;
/** After a database error. */
const BACKOFF_MS = 3_000;
/** A burst of changes is sealed at once. */
const PAUSE_MS = 250;

/** Seals new entries of the audit log, and deletes old ones. @returns stops the worker */
export function startAuditWorker(deps: Deps): () => Promise<void> {
  return runRounds(deps, {
    subject: "audit log",
    wakers: [AUDIT_WAKER],
    round: async (signal) => {
      while (!signal.aborted && (await sealEntries(deps)));
      return ROUND_MS;
    },
    trim: () => trimAudit(deps.db, deps.config.auditDays),
    trimMs: TRIM_MS,
    backoffMs: BACKOFF_MS,
    pauseMs: PAUSE_MS,
  });
}
