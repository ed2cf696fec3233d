import { sql } from "drizzle-orm";
import { commitStatuses, hostReads } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { runPeriodically } from "../../../jobs/periodic.ts";
import { inParallel } from "../../../lib/in-parallel.ts";
import { readFromHosts } from "./read.ts";
import { reportToHosts } from "./report.ts";

/** How long a status may wait to be reported or read. */
const BUSY_MS = 2_000;
/** Calls of git hosts at a time: a slow one must not delay the others. */
const CONCURRENCY = 4;

/**
 * Keeps the checks of change requests and those of their git hosts in step, where svc has an API and a token for the host:
 * what was reported to svc is reported to the host (`report.ts`), and what the host has is read (`read.ts`).
 *
 * All state is in the database: when an entry is due. A server takes one by moving that into the future, so several servers
 * share the work, and the entries of one that was killed are due again.
 * @returns stops the worker, and waits for the round in progress
 */
export function startHostChecksWorker(deps: Deps): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = runPeriodically(
    deps,
    {
      subject: "checks of git hosts",
      wakers: ["change_request", "check"],
      work: [
        async () => doAll(signal, await reportToHosts(deps)),
        async () => doAll(signal, await readFromHosts(deps)),
        () => isAnyDueSoon(deps),
      ],
    },
    { busyMs: BUSY_MS },
  );
  return async () => {
    stopping.abort();
    await stop();
  };
}

/** @returns whether there was any work */
async function doAll(signal: AbortSignal, work: readonly (() => Promise<void>)[]): Promise<boolean> {
  await inParallel(work, CONCURRENCY, signal, (each) => each());
  return work.length > 0;
}

/** Within the pause of an idle server. */
async function isAnyDueSoon({ db, clock }: Deps): Promise<boolean> {
  const soon = sql`${new Date(clock().getTime() + 30_000).toISOString()}::timestamptz`;
  const due = sql<boolean>`exists (select 1 from ${hostReads} where ${hostReads.dueAt} <= ${soon})
    or exists (select 1 from ${commitStatuses} where ${commitStatuses.reportDueAt} <= ${soon})`;
  const [row] = await db.select({ due }).from(sql`(values (1)) as one`);
  return row?.due === true;
}
