import type { System } from "../../system.ts";
import { logText } from "../../text.ts";
import { compose } from "./compose.ts";
import { linesSinceStart } from "./server-log.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

/** The last lines of a service's log since its start, each safe for a terminal. */
export async function logsOf(
  system: Pick<System, "env" | "stderr">,
  stack: Stack,
  { mode }: Pick<State, "mode">,
  service: string,
  count: number,
): Promise<string[]> {
  if (mode === "native") return linesSinceStart(stack, count).map(logText);
  const { out } = await compose(system, stack, ["logs", "--no-color", `--tail=${count}`, service]);
  return out
    .split("\n")
    .filter((line) => line !== "")
    .slice(-count)
    .map((line) => logText(line.replace(/^[^|]*\| ?/, "")));
}
