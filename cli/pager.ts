import { withoutRuntime } from "./browser.ts";
import { OutputClosed, systemCode } from "./failure.ts";
import type { System } from "./system.ts";

/**
 * Shows text through a pager: SVC_PAGER, PAGER or `less`; `cat` and the empty string disable it. Quitting the pager early
 * is not an error.
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
    // Like git and gh: keep colours, quit if the text fits on one screen, leave the text on the screen.
    env: { LESS: "FRX", LV: "-c", ...withoutRuntime(env) },
  });
  // The pager handles Ctrl-C: if svc exited first, the pager would lose the terminal.
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
  let hasExited = false;
  const exited = pager.exited.then(() => {
    hasExited = true;
  });
  try {
    for await (const part of text) {
      // A pager stops reading while it shows a page. Both calls may return promises that reject once the pager exits.
      await Promise.race([Promise.all([pager.stdin.write(part), pager.stdin.flush()]), exited]);
      if (hasExited) return;
    }
    await Promise.race([pager.stdin.end(), exited]);
  } catch (error) {
    if (!(error instanceof OutputClosed) && systemCode(error) !== "EPIPE") {
      await Promise.resolve(pager.stdin.end()).catch(() => {});
      await pager.exited;
      throw error;
    }
  }
}
