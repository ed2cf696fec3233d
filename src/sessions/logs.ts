import type { ProjectRow } from "../auth/caller.ts";
import { isAlive, LOG_MAX_BYTES, type LogLine } from "../contract/session.ts";
import type { Deps } from "../deps.ts";
import { within } from "../git/within.ts";
import { openLog, readLog, withoutControls } from "./log.ts";
import { findSession } from "./read.ts";
import type { SessionRow } from "./wire.ts";

/** Lines that are answered when nobody says how many. */
export const LINES_DEFAULT = 1_000;
export const LINES_MAX = 10_000;
/** A sandbox's own log is read from an engine that may hang. */
const READ_MS = 5_000;

/**
 * The end of a session's log: what svc did, and what the sandbox says, while it lives and the last of it afterwards.
 * @throws not_found, validation_failed
 */
export async function readLogs(
  deps: Deps,
  project: ProjectRow,
  sessionId: string,
  tail: number,
): Promise<{ lines: LogLine[]; truncated: boolean }> {
  const { session } = await findSession(deps, project, sessionId);
  const kept = (await readLog(deps, session.sessionId, tail + 1)).map(({ line }) => line);
  const said = isAlive(session) ? await sandboxLines(deps, session) : [];
  return endOf([...kept, ...said], tail);
}

/** The last of some lines, as many as are asked for and as a log may have bytes. */
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

/** The end of what daemon and runtime have written; nothing when it cannot be read now. */
export async function sandboxLines(
  deps: Deps,
  session: Pick<SessionRow, "sessionId" | "provider">,
  maxBytes = LOG_MAX_BYTES,
): Promise<LogLine[]> {
  const provider = deps.sandboxes.get(session.provider);
  if (!provider) return [];
  try {
    const bytes = await within(
      provider.logs(session.sessionId, maxBytes),
      READ_MS,
      () => new Error("the sandbox's log was not read in time"),
    );
    return textLines(bytes).map(readLine);
  } catch (error) {
    deps.log.warn({ session: session.sessionId, err: error }, "a sandbox's log could not be read");
    return [];
  }
}

/** The same without what its build has said, where the log has that already (`keepBuildLog`). */
export async function unkeptLines(
  deps: Deps,
  session: Pick<SessionRow, "sessionId" | "provider" | "status">,
): Promise<LogLine[]> {
  const said = await sandboxLines(deps, session);
  return session.status === "running" ? said.filter((line) => !isOfBuild(line)) : said;
}

/** Writes the end of what a sandbox has said into the session's log, before it is gone. */
export async function keepSandboxLog(
  deps: Deps,
  session: Pick<SessionRow, "sessionId" | "provider" | "status">,
): Promise<void> {
  const log = openLog(deps, session.sessionId);
  for (const { text, at } of (await unkeptLines(deps, session)).slice(-KEPT_LINES)) {
    log.write("sandbox", text, at === null ? undefined : new Date(at));
  }
  await log.flush();
}

/** Writes what the build of a deployment has said into its log, before what the app says takes its place. */
export async function keepBuildLog(
  deps: Deps,
  session: Pick<SessionRow, "sessionId" | "provider">,
): Promise<void> {
  const log = openLog(deps, session.sessionId);
  for (const { text, at } of (await sandboxLines(deps, session)).filter(isOfBuild).slice(-KEPT_BUILD_LINES))
    log.write("build", text.slice(BUILD.length), at === null ? undefined : new Date(at));
  await log.flush();
}

/** So the daemon of a deployment begins what the build says (`daemon/log.ts`). */
const BUILD = "build ";

function isOfBuild({ source, text }: LogLine): boolean {
  return source === "sandbox" && text.startsWith(BUILD);
}

/** Of a build that has worked: enough to see what it did. */
const KEPT_BUILD_LINES = 1_000;

/** Of a sandbox that has ended: enough to see why. */
const KEPT_LINES = 500;

/** The daemon begins its lines with their time; what else writes there may not. */
function readLine(line: string): LogLine {
  const [, at = null, text = line] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (.*)$/.exec(line) ?? [];
  return { at, source: "sandbox", text };
}

function textLines(bytes: Uint8Array): string[] {
  return new TextDecoder()
    .decode(bytes)
    .split(/\r\n|\n|\r/)
    .map(withoutControls)
    .filter((line) => line !== "");
}
