import type { Runtime } from "../../src/conversation/runtime.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { painter } from "../output.ts";
import { historyPath, readHistory } from "./history.ts";
import { Input } from "./input.ts";
import { Room } from "./room.ts";
import { Screen } from "./screen.ts";
import { openTerminal } from "./terminal.ts";
import { Transcript } from "./transcript.ts";

/**
 * Talks on the terminal until the person leaves.
 * @throws CliError what the connection is given up for. Ctrl-C twice ends svc by the signal.
 */
export async function repl(context: Context, runtime: Runtime): Promise<void> {
  const { system, out } = context;
  if (system.env["TERM"] === "dumb") {
    throw usage("This terminal cannot move its cursor (TERM=dumb).", "Ask with --prompt instead.");
  }
  const history = historyPath(system);
  const input = new Input(await readHistory(history));
  const terminal = openTerminal(system);
  const screen = new Screen(terminal);
  const paint = painter(out.colour(system.stdout));
  const transcript = new Transcript(screen, paint);
  const room = new Room({ system, runtime, terminal, screen, transcript, input, paint, history });
  let how: "quit" | "interrupt";
  try {
    how = await room.stay();
  } finally {
    await screen.close();
    terminal.close();
  }
  if (room.isBusy) await out.note("The agent goes on.");
  await out.note(`To come back: svc sessions chat ${runtime.session.session_id.slice(0, 8)}`);
  if (how === "quit") return;
  process.kill(process.pid, "SIGINT");
  await new Promise(() => {});
}
