import { runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { blockedOn } from "./blocked.ts";
import type { EnterStep, RunKind } from "./kind.ts";
import type { RunLog } from "./log.ts";
import type { Away } from "./retry.ts";
import { type RunRow, SUPERSEDED, thisStart } from "./row.ts";

/** Records the progress of one start, in its order. */
export interface Progress {
  enter: EnterStep;
  /** Records that the start waits for something that is away, until the next step. */
  block(away: Away, message: string): Promise<void>;
  /** Resolves when all that was reported so far is recorded, or could not be. */
  recorded(): Promise<void>;
}

export function openProgress(
  deps: Deps,
  kind: RunKind,
  run: RunRow,
  log: RunLog,
  signal: AbortSignal,
): Progress {
  let last = Promise.resolve();
  return {
    enter(step, text) {
      signal.throwIfAborted();
      log.write("svc", text);
      return then({ step, blockedOn: null });
    },
    block: (away, message) => then({ blockedOn: blockedOn(away, message) }),
    recorded: () => last.catch(() => {}),
  };

  function then(change: Partial<RunRow>): Promise<void> {
    // a reader of both sees the text before the step
    last = last.then(() => log.flush()).then(() => record(deps, kind, run, change));
    return last;
  }
}

/** Changes the row of this start, and publishes the change. @throws when the run has another goal */
export async function record(
  deps: Deps,
  kind: RunKind,
  run: RunRow,
  change: Partial<RunRow>,
  also: (tx: Deps["db"], now: Date) => Promise<void> = async () => {},
): Promise<void> {
  const now = deps.clock();
  const row = await deps.db.transaction(async (tx) => {
    const [changed] = await tx
      .update(runs)
      .set({ ...change, updatedAt: now })
      .where(thisStart(run))
      .returning();
    if (!changed) return null;
    await also(tx, now);
    await kind.publish(deps, tx, changed, "changed");
    return changed;
  });
  deps.changes.notify(run.runId);
  if (!row) throw new Error(SUPERSEDED);
}
