import { CliError } from "./failure.ts";
import { oneLine } from "./text.ts";

/**
 * Interactive prompts on stderr. Call `context.canAsk()` first: without a terminal on both ends a prompt never returns.
 */
export interface Choice {
  value: string;
  label: string;
  hint?: string;
}

/** Rows shown of a list. */
const ROWS = 12;

/** @throws CliError `cancelled` on Ctrl-C or Escape. */
export async function choose(message: string, choices: readonly Choice[], initial?: string): Promise<string> {
  const { isCancel, select } = await import("@clack/prompts");
  const answer = await select({
    message: oneLine(message),
    options: choices.map(({ value, label, hint }) => ({
      value,
      label: oneLine(label),
      ...(hint === undefined ? {} : { hint: oneLine(hint) }),
    })),
    maxItems: ROWS,
    output: process.stderr,
    ...(initial === undefined ? {} : { initialValue: initial }),
  });
  return isCancel(answer) ? cancel() : answer;
}

/** @throws CliError `cancelled` on Ctrl-C, Escape or when `signal` is aborted. */
export async function confirm(message: string, initial = false, signal?: AbortSignal): Promise<boolean> {
  const clack = await import("@clack/prompts");
  const answer = await clack.confirm({
    message: oneLine(message),
    initialValue: initial,
    output: process.stderr,
    ...(signal && { signal }),
  });
  return clack.isCancel(answer) ? cancel() : answer;
}

/** A line of text, with a text to start from. @throws CliError `cancelled` as `confirm`. */
export async function text(message: string, initial = "", signal?: AbortSignal): Promise<string> {
  const clack = await import("@clack/prompts");
  const answer = await clack.text({
    message: oneLine(message),
    initialValue: initial,
    output: process.stderr,
    ...(signal && { signal }),
  });
  return clack.isCancel(answer) ? cancel() : (answer ?? "");
}

/** Confirms an irreversible action: the user types its name. */
export async function confirmByName(message: string, name: string): Promise<void> {
  const { isCancel, text } = await import("@clack/prompts");
  const answer = await text({
    message: `${oneLine(message)} Type ${oneLine(name)} to confirm:`,
    validate: (value) => (value === name ? undefined : `Type ${oneLine(name)}, or press Escape.`),
    output: process.stderr,
  });
  if (isCancel(answer)) cancel();
}

/** Prompts for a hidden value. */
export async function secret(message: string): Promise<string> {
  const { isCancel, password } = await import("@clack/prompts");
  const answer = await password({ message: oneLine(message), output: process.stderr });
  return isCancel(answer) ? cancel() : (answer ?? "");
}

function cancel(): never {
  throw new CliError("cancelled", "Cancelled; nothing was changed.");
}
