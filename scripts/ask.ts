import { createInterface } from "node:readline/promises";

/** Whether both ends of a question are a terminal. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

/**
 * Prompts for yes or no on the terminal. Return means `byDefault`; the end of the input, or an abort, means no.
 */
export async function ask(
  question: string,
  byDefault: "yes" | "no",
  ended: Promise<unknown> = new Promise(() => {}),
): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  terminal.once("close", () => resolve("no"));
  // the process handles Ctrl-C
  terminal.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  void ended.then(() => terminal.close());
  const answer = await Promise.race([
    terminal.question(`${question} ${byDefault === "yes" ? "[Y/n]" : "[y/N]"} `),
    closed,
  ]);
  terminal.close();
  return answer.trim() === "" ? byDefault === "yes" : /^\s*(?:y|yes)\s*$/i.test(answer);
}
