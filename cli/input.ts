import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "./context.ts";
import { CliError, systemCode, usage } from "./failure.ts";

/** The largest input of one request: the API does not accept a larger body. */
const INPUT_MAX_BYTES = 1024 * 1024;

/** The bytes of a file, or of standard input for `-`. @throws CliError `usage`, `file`. */
export async function readInput(
  { system }: Context,
  path: string,
  flag: string,
  max = INPUT_MAX_BYTES,
): Promise<Uint8Array> {
  if (path === "-") {
    if (system.stdin.isTTY) {
      throw isTerminal(flag);
    }
    return system.stdin.bytes(max).catch((error: unknown) => {
      if (error instanceof RangeError) throw tooLarge(flag, max);
      throw error;
    });
  }
  const file = resolve(system.cwd, path);
  try {
    const { size } = await stat(file);
    if (size > max) throw tooLarge(flag, max);
    return await readFile(file);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError("file", `${flag}: ${path} cannot be read (${systemCode(error) ?? "unknown error"}).`);
  }
}

/** @throws CliError as `readInput`, and `usage` for invalid UTF-8. */
export async function readText(context: Context, path: string, flag: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readInput(context, path, flag));
  } catch (error) {
    if (error instanceof TypeError)
      throw usage(`${flag}: ${path === "-" ? "the input" : path} is not valid UTF-8.`);
    throw error;
  }
}

/**
 * A secret given by a flag: the value, or `-` for standard input; on a terminal it prompts.
 * @throws CliError `usage` if it is empty.
 */
export async function readSecret(context: Context, value: string, flag: string): Promise<string> {
  const text = value === "-" ? await secretFromInput(context, flag) : value;
  const trimmed = text.includes("PRIVATE KEY-----") ? `${text.trim()}\n` : text.trim();
  if (trimmed === "")
    throw usage(`${flag}: the input is empty.`, "Redirect a file with the value to it: < value.txt");
  return trimmed;
}

async function secretFromInput(context: Context, flag: string): Promise<string> {
  if (!context.system.stdin.isTTY) return readText(context, "-", flag);
  if (!context.canAsk()) {
    throw isTerminal(flag);
  }
  const { secret } = await import("./prompt.ts");
  return secret("Paste it here (the input is hidden)");
}

const tooLarge = (flag: string, max: number): CliError =>
  usage(`${flag}: the input is larger than ${max} bytes.`);

const isTerminal = (flag: string): CliError =>
  usage(`${flag}: standard input is a terminal.`, "Redirect a file into svc, or pipe a command into it.");
