import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "../log.ts";
import type { Settings } from "../settings.ts";
import { asAgent, type Child, type Children, signalGroup } from "./children.ts";
import { readLines } from "./lines.ts";
import { endDescendants } from "./tree.ts";

/** Lines of a command's output that are logged. */
const LINES_MAX = 20_000;
/** For the last lines of the output, once no process writes to it any more. */
const DRAIN_MS = 2_000;

interface Context {
  settings: Settings;
  children: Children;
  log: Log;
}

interface Program {
  command: string;
  environment: Record<string, string>;
  directory: string;
  limitMs: number;
  /** Logs a line of its output. */
  log(line: string): void;
  /** Such as `the build`, for the log. */
  name: string;
}

/**
 * Runs a shell command as the agent until it ends, or is killed at its time limit or when the signal is aborted.
 * The processes that it leaves behind are ended.
 */
export async function runToEnd(
  context: Context,
  { command, environment, directory, limitMs, log, name }: Program,
  signal: AbortSignal,
): Promise<{ exitCode: number | null; signalCode: Child["signalCode"]; isLate: boolean }> {
  const { settings, children } = context;
  const child = children.start({
    ...asAgent(settings, ["sh", "-c", command]),
    environment,
    directory,
    isRuntime: true,
  });
  let lines = 0;
  const onLine = (line: string) => {
    lines++;
    if (lines <= LINES_MAX) log(line);
    if (lines === LINES_MAX) context.log.info(`${name} printed ${LINES_MAX} lines; the rest is dropped`);
  };
  const read = Promise.all([readLines(child.stdout, onLine), readLines(child.stderr, onLine)]);
  const late = AbortSignal.timeout(limitMs);
  const over = AbortSignal.any([signal, late]);
  const end = () => signalGroup(child.pid, "SIGKILL");
  over.addEventListener("abort", end);
  if (over.aborted) end();
  await child.exited;
  over.removeEventListener("abort", end);
  await endDescendants(process.pid, children.helpers);
  await Promise.race([read, pause(DRAIN_MS)]);
  return { exitCode: child.exitCode, signalCode: child.signalCode, isLate: late.aborted };
}
