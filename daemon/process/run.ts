import { type Children, type Command, signalGroup } from "./children.ts";
import { forEachChunk } from "./output.ts";

export interface RunResult {
  /** Null if a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
  /** Whether the deadline ended it. */
  late: boolean;
}

/** The beginning of the output that is kept, which is more than any caller parses. */
const OUTPUT_MAX_BYTES = 64 * 1024;

/** Runs a program to its end. After `deadlineMs`, or when the signal aborts, the program is killed. */
export async function run(
  children: Children,
  command: Command,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<RunResult> {
  const child = children.start(command);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), deadlineMs);
  const over = signal ? AbortSignal.any([deadline.signal, signal]) : deadline.signal;
  const end = () => signalGroup(child.pid, "SIGKILL");
  over.addEventListener("abort", end);
  if (over.aborted) end();
  // processes that it left behind
  void child.exited.then(end);
  const life = { exited: child.exited, signal: over };
  const [stdout, stderr] = await Promise.all([
    head(child.stdout, life),
    head(child.stderr, life),
    child.exited,
  ]);
  clearTimeout(timer);
  over.removeEventListener("abort", end);
  return { code: child.exitCode, stdout, stderr, late: deadline.signal.aborted };
}

async function head(
  stream: ReadableStream<Uint8Array>,
  life: Parameters<typeof forEachChunk>[1],
): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  await forEachChunk(stream, life, (part) => {
    if (bytes < OUTPUT_MAX_BYTES) parts.push(part);
    bytes += part.length;
  });
  return Buffer.concat(parts).toString("utf8", 0, OUTPUT_MAX_BYTES);
}
