import { isRecord } from "../config.ts";
import { CliError } from "../failure.ts";
import { oneLine } from "../text.ts";

/** A start takes milliseconds; the first of a new file on macOS a few seconds. */
const START_MS = 10_000;
/** The answer is one line. */
const OUTPUT_MAX_BYTES = 64 * 1024;

/**
 * Starts a program and reads its version: a build for another processor or C library, or one that macOS refuses, does not
 * get that far.
 * @throws CliError `update_failed`
 */
export async function versionOf(program: string): Promise<string> {
  // these two make the program run other code
  const { BUN_OPTIONS: _, BUN_BE_BUN: __, ...env } = process.env;
  const broken = (why: string) =>
    new CliError("update_failed", `The program ${program} does not start: ${why}.`);
  let child: Bun.ReadableSubprocess;
  try {
    child = Bun.spawn([program, "version", "--json"], {
      env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: START_MS,
      killSignal: "SIGKILL",
      maxBuffer: OUTPUT_MAX_BYTES,
    });
  } catch (error) {
    throw broken(error instanceof Error ? oneLine(error.message) : "unknown error");
  }
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) {
    const said = oneLine(err.trim()).slice(0, 500);
    throw broken(
      child.signalCode ? `it was ended by ${child.signalCode}` : said || `status ${child.exitCode}`,
    );
  }
  try {
    const answer: unknown = JSON.parse(out);
    if (isRecord(answer) && typeof answer["version"] === "string") return answer["version"];
  } catch {}
  throw broken("it prints no version");
}

/** @throws CliError `update_failed` unless the program starts and has this version */
export async function requireVersion(program: string, version: string): Promise<void> {
  const actual = await versionOf(program);
  if (actual === version) return;
  throw new CliError(
    "update_failed",
    `The release ${version} contains svc ${oneLine(actual).slice(0, 100)}.`,
  );
}
