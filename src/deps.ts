import type { Logger } from "pino";
import type { Database, Db } from "../db/client.ts";
import type { Config } from "./config.ts";
import type { Comparison, Git } from "./git/git.ts";
import type { PushStep } from "./git/options.ts";
import type { Keys } from "./keys.ts";
import type { Metrics } from "./metrics.ts";
import type { Turns } from "./turns.ts";

/** What every verb may use; built once in `main.ts` and passed as the first argument. */
export interface Deps {
  db: Db;
  databaseKind: Database["kind"];
  git: Git;
  keys: Keys;
  config: Config;
  log: Logger;
  metrics: Metrics;
  clock: () => Date;
  /** Merge verdicts, by project, commits and git version. */
  verdicts: Map<string, Comparison>;
  turns: Pick<Turns, "take">;
  /** Called between the steps of a merge and of a push; a test ends the process or the database there. */
  checkpoint: (step: MergeStep | PushStep) => void | Promise<void>;
}

/** The steps of a merge, in order: what has been done when the checkpoint is called. */
export const MERGE_STEPS = ["commit-written", "intent-recorded", "pushed", "kept", "merge-recorded"] as const;
export type MergeStep = (typeof MERGE_STEPS)[number];
