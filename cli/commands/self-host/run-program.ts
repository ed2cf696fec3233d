import { withoutRuntime } from "../../browser.ts";
import { CliError, systemCode } from "../../failure.ts";
import type { System } from "../../system.ts";

export interface Ended {
  /** 127 if the program does not exist; null if it was killed, also by its time limit. */
  code: number | null;
  /** The end of its output, bounded. */
  out: string;
  err: string;
}

export interface RunOptions {
  cwd?: string;
  /** Variables besides those of the command. */
  env?: Readonly<Record<string, string>>;
  input?: string;
  /** File descriptors for its input and output, instead of `input` and collecting the output. */
  stdin?: number;
  stdout?: number;
  /** The time limit. */
  ms?: number;
  /** Shows its output on stderr instead of collecting it. */
  show?: boolean;
  /** Takes its output line by line instead of collecting it. If it throws, the program is ended. */
  onLine?: (line: string) => Promise<void>;
}

/** Most programs only print a few lines about the engine. */
const RUN_MS = 60_000;
/** The end of a program's output that is kept. */
const OUTPUT_MAX = 256 * 1024;

/** Runs a program of the machine (docker, systemctl, svc-api) to its end, with a time limit. */
export async function runProgram(
  system: Pick<System, "env" | "stderr">,
  command: readonly string[],
  { cwd, env, input, stdin, stdout, ms = RUN_MS, show = false, onLine }: RunOptions = {},
): Promise<Ended> {
  const start = () =>
    Bun.spawn([...command], {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...withoutRuntime(system.env), ...env },
      stdin: stdin ?? (input === undefined ? "ignore" : new Blob([input])),
      stdout: stdout ?? (show ? system.stderr.fd : "pipe"),
      stderr: show ? system.stderr.fd : "pipe",
      timeout: ms,
    });
  let child: ReturnType<typeof start>;
  try {
    child = start();
  } catch (error) {
    const reason = systemCode(error) ?? "unknown error";
    if (reason === "ENOENT") return { code: 127, out: "", err: "not found" };
    throw new CliError("self_host", `${command[0]} cannot be started (${reason}).`);
  }
  try {
    const reading = onLine ? eachLine(child.stdout, onLine) : endOf(child.stdout);
    const [out, err] = await Promise.all([reading, endOf(child.stderr), child.exited]);
    return { code: child.exitCode, out, err };
  } finally {
    if (child.exitCode === null) child.kill();
  }
}

async function endOf(stream: ReadableStream<Uint8Array> | number | undefined): Promise<string> {
  if (!(stream instanceof ReadableStream)) return "";
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text = (text + decoder.decode(chunk, { stream: true })).slice(-OUTPUT_MAX);
  }
  return text;
}

async function eachLine(
  stream: ReadableStream<Uint8Array> | number | undefined,
  take: (line: string) => Promise<void>,
): Promise<string> {
  if (!(stream instanceof ReadableStream)) return "";
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = (lines.pop() ?? "").slice(0, OUTPUT_MAX);
    for (const line of lines) await take(line);
  }
  if (rest !== "") await take(rest);
  return "";
}
