import { withoutRuntime } from "./browser.ts";
import { ReaderGone, systemCode } from "./failure.ts";
import type { System } from "./system.ts";

/**
 * Shows text on the terminal through a pager: SVC_PAGER, PAGER, else `less`; `cat` and the empty string are none.
 * A pager that is left early ends the text, quietly.
 */
export async function withPager(system: System, text: AsyncIterable<string>): Promise<void> {
  const { env } = system;
  const command = (env["SVC_PAGER"] ?? env["PAGER"] ?? "less").split(" ").filter(Boolean);
  const [program] = command;
  if (!program || program === "cat" || !Bun.which(program, { PATH: env["PATH"] ?? "" })) {
    for await (const part of text) await system.stdout.write(part);
    return;
  }
  const pager = Bun.spawn(command, {
    stdin: "pipe",
    stdout: "inherit",
    stderr: "inherit",
    // As git and gh do: colours pass, short text ends by itself and stays on the screen.
    env: { LESS: "FRX", LV: "-c", ...withoutRuntime(env) },
  });
  // Ctrl-C is the pager's while it runs; dying first would leave it alone with the terminal.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  try {
    await feed(pager, text);
    await pager.exited;
  } finally {
    process.off("SIGINT", ignore);
  }
}

type Pager = Bun.Subprocess<"pipe", "inherit", "inherit">;

async function feed(pager: Pager, text: AsyncIterable<string>): Promise<void> {
  let isGone = false;
  const gone = pager.exited.then(() => {
    isGone = true;
  });
  try {
    for await (const part of text) {
      // A pager that shows its first page reads no further for as long as a person likes. Both may be promises that
      // fail once the pager has gone.
      await Promise.race([Promise.all([pager.stdin.write(part), pager.stdin.flush()]), gone]);
      if (isGone) return;
    }
    await Promise.race([pager.stdin.end(), gone]);
  } catch (error) {
    if (!(error instanceof ReaderGone) && systemCode(error) !== "EPIPE") {
      await Promise.resolve(pager.stdin.end()).catch(() => {});
      await pager.exited;
      throw error;
    }
  }
}
