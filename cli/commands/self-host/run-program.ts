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
  /** The time limit. */
  ms?: number;
  /** Shows its output on stderr instead of collecting it. */
  show?: boolean;
}

/** Most programs only print a few lines about the engine. */
const RUN_MS = 60_000;
/** The end of a program's output that is kept. */
const OUTPUT_MAX = 256 * 1024;

/** Runs a program of the machine (docker, systemctl, svc-api) to its end, with a time limit. */
export async function runProgram(
  system: Pick<System, "env" | "stderr">,
  command: readonly string[],
  { cwd, env, input, ms = RUN_MS, show = false }: RunOptions = {},
): Promise<Ended> {
  try {
    const child = Bun.spawn([...command], {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...withoutRuntime(system.env), ...env },
      stdin: input === undefined ? "ignore" : new Blob([input]),
      stdout: show ? system.stderr.fd : "pipe",
      stderr: show ? system.stderr.fd : "pipe",
      timeout: ms,
    });
    const [out, err] = await Promise.all([endOf(child.stdout), endOf(child.stderr), child.exited]);
    return { code: child.exitCode, out, err };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return { code: 127, out: "", err: "not found" };
    throw new CliError(
      "self_host",
      `${command[0]} cannot be started (${systemCode(error) ?? "unknown error"}).`,
    );
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
