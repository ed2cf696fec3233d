import { LOG_MAX_BYTES, type LogLine } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { within } from "../../lib/within.ts";
import type { RunKind } from "./kind.ts";
import { openLog, withoutControls } from "./log.ts";
import type { RunRow } from "./row.ts";

/** The container engine that has a sandbox's output may hang. */
const READ_MS = 5_000;
/** Lines kept of a sandbox that has ended: enough to see why. At most those that the log buffers (`log.ts`). */
const KEPT_LINES = 500;

/** The end of the output of daemon and runtime; empty when it cannot be read now. */
export async function readOutput(
  deps: Deps,
  { runId, provider: name }: Pick<RunRow, "runId" | "provider">,
  maxBytes = LOG_MAX_BYTES,
): Promise<LogLine[]> {
  const provider = deps.sandboxes.get(name);
  if (!provider) return [];
  try {
    const bytes = await within(
      provider.logs(runId, maxBytes),
      READ_MS,
      () => new Error("reading the sandbox's output timed out"),
    );
    return textLines(bytes).map(readLine);
  } catch (error) {
    deps.log.warn({ run: runId, err: error }, "cannot read the output of a sandbox");
    return [];
  }
}

/** Writes the end of a sandbox's output into its run's log, before the sandbox is removed. */
export async function keepOutput(deps: Deps, kind: RunKind, run: RunRow): Promise<void> {
  const lines = (await readOutput(deps, run)).filter((line) => !kind.isLogged?.(run, line));
  await writeLines(deps, run.runId, lines.slice(-(kind.keptLines ?? KEPT_LINES)));
}

/** Adds lines of a sandbox's output to its run's log. */
export async function writeLines(deps: Deps, runId: string, lines: readonly LogLine[]): Promise<void> {
  const log = openLog(deps, runId);
  for (const { source, text, at } of lines) log.write(source, text, at === null ? undefined : new Date(at));
  await log.flush();
}

/** The daemon's lines start with their time; those of other processes may not. */
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
