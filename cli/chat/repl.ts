import type { Session } from "../../src/contract/session.ts";
import type { Found } from "../commands/sessions/reference.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { painter } from "../output.ts";
import { ChatSession } from "./chat-session.ts";
import { choose } from "./choose.ts";
import { historyPath, readHistory } from "./history.ts";
import { Input } from "./input.ts";
import { Screen } from "./screen.ts";
import { openTerminal } from "./terminal.ts";
import { Transcript } from "./transcript.ts";

/**
 * Runs the interactive chat until the user quits. Ctrl-C twice ends svc by the signal.
 * @throws CliError if the connection fails for good
 */
export async function repl(context: Context, found: Found, session: Session): Promise<void> {
  const { system, out } = context;
  if (system.env["TERM"] === "dumb") {
    throw usage(
      "Interactive chat needs a terminal that can move its cursor, and this one cannot (TERM=dumb).",
      "Use --prompt instead.",
    );
  }
  const history = historyPath(system);
  const input = new Input(await readHistory(history));
  const terminal = openTerminal(system);
  const screen = new Screen(terminal);
  const paint = painter(out.colour(system.stdout));
  const transcript = new Transcript(screen, paint);
  const chat = new ChatSession({
    ...{ system, found, session, terminal, screen, transcript, input, paint, history },
    choose: (command) => choose(found.api, session, command),
  });
  let exit: "quit" | "interrupt";
  try {
    exit = await chat.run();
  } finally {
    await screen.close();
    terminal.close();
  }
  if (chat.isBusy) await out.note("The agent continues to work.");
  await out.note(`To return: svc sessions chat ${session.session_id.slice(0, 8)}`);
  if (exit === "quit") return;
  process.kill(process.pid, "SIGINT");
  await new Promise(() => {});
}
