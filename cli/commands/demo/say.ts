import { painter } from "../../output.ts";
import { oneLine } from "../../text.ts";
import type { Demo } from "./demo.ts";

/** Announces a step on stderr: what happens, and the commands that do the same. */
export async function announce(demo: Demo, title: string, commands: readonly string[]): Promise<void> {
  const { out, system } = demo.context;
  if (out.quiet || out.data.json) return;
  const paint = painter(out.colour(system.stderr));
  const lines = commands.map((command) => `${paint.dim(`  $ ${oneLine(command)}`)}\n`);
  await system.stderr.write(`\n${paint.bold(oneLine(title))}\n${lines.join("")}`);
}
