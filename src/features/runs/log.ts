import { and, asc, desc, eq, gt, lt } from "drizzle-orm";
import { isForeignKeyViolation } from "../../../db/errors.ts";
import { runLog } from "../../../db/schema/index.ts";
import { LOG_MAX_BYTES, type LogLine } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";

/** Lines in the response to a request for a log: the default and the maximum. */
export const LOG_LINES = { default: 1_000, max: 10_000 } as const;
/** The log of a run keeps this many lines, the newest. A long build of an image has about as many. */
const LINES_MAX = 5_000;
/** Characters of one line; the rest is cut. */
const LINE_MAX = 2_000;
/** The oldest lines are deleted every this many lines. */
const TRIM_EVERY = 500;
/** Lines are written in batches, this often. */
const FLUSH_MS = 100;
/** The maximum number of buffered lines; beyond it the oldest are dropped. */
const WAITING_MAX = 2_000;

type Source = LogLine["source"];

/** A line of the log with its position in it. */
interface NumberedLine {
  seq: number;
  line: LogLine;
}

/** Writes the log of one run. Lines that cannot be written are lost, without an error. */
export interface RunLog {
  write(source: Source, text: string, at?: Date): void;
  /** Resolves when all earlier lines are in the log. */
  flush(): Promise<void>;
}

export function openLog(deps: Deps, runId: string): RunLog {
  let waiting: { source: Source; text: string; at: Date }[] = [];
  let isScheduled = false;
  /** Batches are written one after the other: lines of two that are written at once could change places. */
  let last = Promise.resolve();
  let untrimmed = TRIM_EVERY;

  return {
    write(source, text, at = deps.clock()) {
      for (const line of text.split(/\r\n|\n|\r/)) {
        const clean = withoutControls(line);
        if (clean !== "") waiting.push({ source, text: clean, at });
      }
      waiting = waiting.slice(-WAITING_MAX);
      if (isScheduled) return;
      isScheduled = true;
      void Bun.sleep(FLUSH_MS).then(drain);
    },
    flush: drain,
  };

  function drain(): Promise<void> {
    isScheduled = false;
    last = last.then(writeWaiting);
    return last;
  }

  async function writeWaiting(): Promise<void> {
    const lines = waiting;
    waiting = [];
    if (lines.length === 0) return;
    try {
      await deps.db.insert(runLog).values(lines.map((line) => ({ ...line, runId })));
      untrimmed += lines.length;
      if (untrimmed >= TRIM_EVERY) await trim(deps, runId);
      untrimmed %= TRIM_EVERY;
    } catch (error) {
      // a deleted run has no log
      if (!isForeignKeyViolation(error))
        deps.log.warn({ run: runId, err: error }, "cannot write the log of a run");
    }
    deps.changes.notify(runId);
  }
}

/** A line that is safe to show: bounded, and without control sequences. */
export function withoutControls(line: string): string {
  return line.replace(CONTROL, "").toWellFormed().trimEnd().slice(0, LINE_MAX);
}

/** Control characters and escape sequences, without the tab. */
const CONTROL = /\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

async function trim(deps: Deps, runId: string): Promise<void> {
  const [oldest] = await deps.db
    .select({ seq: runLog.seq })
    .from(runLog)
    .where(eq(runLog.runId, runId))
    .orderBy(desc(runLog.seq))
    .offset(LINES_MAX)
    .limit(1);
  if (!oldest) return;
  await deps.db.delete(runLog).where(and(eq(runLog.runId, runId), lt(runLog.seq, oldest.seq + 1)));
}

/** The newest lines of a run's log, oldest first. */
export async function readLog(deps: Deps, runId: string, lines: number): Promise<NumberedLine[]> {
  const rows = await deps.db
    .select()
    .from(runLog)
    .where(eq(runLog.runId, runId))
    .orderBy(desc(runLog.seq))
    .limit(lines);
  return rows.reverse().map(toLine);
}

/** The lines after a position in a run's log, oldest first. */
export async function readLogAfter(
  deps: Deps,
  runId: string,
  seq: number,
  lines: number,
): Promise<NumberedLine[]> {
  const rows = await deps.db
    .select()
    .from(runLog)
    .where(and(eq(runLog.runId, runId), gt(runLog.seq, seq)))
    .orderBy(asc(runLog.seq))
    .limit(lines);
  return rows.map(toLine);
}

function toLine({ seq, at, source, text }: typeof runLog.$inferSelect): NumberedLine {
  return { seq, line: { at: at.toISOString(), source, text } };
}

/** The last `tail` lines, of at most `LOG_MAX_BYTES`. */
export function endOf<Line extends { text: string }>(
  all: readonly Line[],
  tail: number,
): { lines: Line[]; truncated: boolean } {
  const lines: Line[] = [];
  let bytes = 0;
  for (const line of all.toReversed()) {
    bytes += Buffer.byteLength(line.text);
    if (lines.length === tail || bytes > LOG_MAX_BYTES) return { lines: lines.reverse(), truncated: true };
    lines.push(line);
  }
  return { lines: lines.reverse(), truncated: false };
}
