import { type Children, type Command, signalGroup } from "./children.ts";

export interface Ran {
  /** Null when it was ended by a signal, ours or another. */
  code: number | null;
  stdout: string;
  stderr: string;
  /** Its time was over. */
  late: boolean;
}

/** The beginning of what a program says: more than any answer or reason that is looked for. */
const OUTPUT_MAX_BYTES = 64 * 1024;

/** Runs a program to its end, and no longer than `deadlineMs` or than `signal` lasts. */
export async function run(
  children: Children,
  command: Command,
  deadlineMs: number,
  signal?: AbortSignal,
): Promise<Ran> {
  const child = children.start(command);
  let late = false;
  const end = () => signalGroup(child.pid, "SIGKILL");
  const timer = setTimeout(() => {
    late = true;
    end();
  }, deadlineMs);
  signal?.addEventListener("abort", end);
  if (signal?.aborted) end();
  // a child that outlives it holds the pipes open: its exit decides
  void child.exited.then(end);
  const [stdout, stderr] = await Promise.all([head(child.stdout), head(child.stderr), child.exited]);
  clearTimeout(timer);
  signal?.removeEventListener("abort", end);
  return { code: child.exitCode, stdout, stderr, late };
}

async function head(stream: ReadableStream<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of stream) {
    if (bytes < OUTPUT_MAX_BYTES) parts.push(part);
    bytes += part.length;
  }
  return Buffer.concat(parts).toString("utf8", 0, OUTPUT_MAX_BYTES);
}
