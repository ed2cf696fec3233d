import { and, asc, desc, eq, gt, lt } from "drizzle-orm";
import { isForeignKeyViolation } from "../../db/errors.ts";
import { sessionLog } from "../../db/schema/index.ts";
import type { LogLine } from "../contract/session.ts";
import type { Deps } from "../deps.ts";

/** Lines that a session's log keeps: the newest. A long build of an image has about as many. */
const LINES_MAX = 5_000;
/** Characters of one line: what is longer is no line for people. */
const LINE_MAX = 2_000;
/** How often the oldest lines are looked for: every so many lines that were written. */
const TRIM_EVERY = 500;
/** Lines are written together, this often. */
const FLUSH_MS = 100;
/** Lines that may wait to be written; a build that says more at once loses its oldest. */
const WAITING_MAX = 2_000;

type Source = LogLine["source"];

/** A line of the log with its place in it. */
export interface NumberedLine {
  seq: number;
  line: LogLine;
}

/** Writes what happens to one session into its log. What cannot be written is lost, and stops nobody. */
export interface SessionLog {
  write(source: Source, text: string, at?: Date): void;
  /** Resolves when all that was written before is in the log. */
  flush(): Promise<void>;
}

export function openLog(deps: Deps, sessionId: string): SessionLog {
  let waiting: { source: Source; text: string; at: Date }[] = [];
  let writing: Promise<void> | null = null;
  let untrimmed = TRIM_EVERY;

  return {
    write(source, text, at = deps.clock()) {
      for (const line of text.split(/\r\n|\n|\r/)) {
        const clean = withoutControls(line);
        if (clean !== "") waiting.push({ source, text: clean, at });
      }
      waiting = waiting.slice(-WAITING_MAX);
      writing ??= Bun.sleep(FLUSH_MS).then(drain);
    },
    async flush() {
      await drain();
      await writing;
    },
  };

  async function drain(): Promise<void> {
    const lines = waiting;
    waiting = [];
    writing = null;
    if (lines.length === 0) return;
    try {
      await deps.db.insert(sessionLog).values(lines.map((line) => ({ ...line, sessionId })));
      untrimmed += lines.length;
      if (untrimmed >= TRIM_EVERY) await trim(deps, sessionId);
      untrimmed %= TRIM_EVERY;
    } catch (error) {
      // a session that was deleted has no log any more
      if (!isForeignKeyViolation(error))
        deps.log.warn({ session: sessionId, err: error }, "a session's log was not written");
    }
    deps.changes.notify(sessionId);
  }
}

/** A line as people may see it: bounded, and without what moves a cursor or sets a title. */
export function withoutControls(line: string): string {
  return line.replace(CONTROL, "").toWellFormed().trimEnd().slice(0, LINE_MAX);
}

/** What moves a cursor or sets a title; the tab stays. */
const CONTROL = /\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

async function trim(deps: Deps, sessionId: string): Promise<void> {
  const [oldest] = await deps.db
    .select({ seq: sessionLog.seq })
    .from(sessionLog)
    .where(eq(sessionLog.sessionId, sessionId))
    .orderBy(desc(sessionLog.seq))
    .offset(LINES_MAX)
    .limit(1);
  if (!oldest) return;
  await deps.db
    .delete(sessionLog)
    .where(and(eq(sessionLog.sessionId, sessionId), lt(sessionLog.seq, oldest.seq + 1)));
}

/** The newest lines of a session's log, oldest first. */
export async function readLog(deps: Deps, sessionId: string, lines: number): Promise<NumberedLine[]> {
  const rows = await deps.db
    .select()
    .from(sessionLog)
    .where(eq(sessionLog.sessionId, sessionId))
    .orderBy(desc(sessionLog.seq))
    .limit(lines);
  return rows.reverse().map(toLine);
}

/** The lines after a place in a session's log, oldest first. */
export async function readLogAfter(
  deps: Deps,
  sessionId: string,
  seq: number,
  lines: number,
): Promise<NumberedLine[]> {
  const rows = await deps.db
    .select()
    .from(sessionLog)
    .where(and(eq(sessionLog.sessionId, sessionId), gt(sessionLog.seq, seq)))
    .orderBy(asc(sessionLog.seq))
    .limit(lines);
  return rows.map(toLine);
}

function toLine({ seq, at, source, text }: typeof sessionLog.$inferSelect): NumberedLine {
  return { seq, line: { at: at.toISOString(), source, text } };
}
