import type { WaitingFor } from "../../src/contract/session.ts";
import type { Context } from "../context.ts";
import { painter } from "../output.ts";
import { lines } from "../text.ts";
import type { ChatEvent } from "./chat-event.ts";
import { jsonOf } from "./json.ts";
import { planText, retryLine, toolLine } from "./lines.ts";
import { sanitizer } from "./sanitizer.ts";

/** Prints the answer to one prompt, and the agent's actions. */
export interface Printer {
  event(event: ChatEvent): void;
  /** A request of the agent: for this prompt, or a notice of what another prompt waits for. */
  asked(ask: WaitingFor, notice: string, isOwn: boolean): void;
  /** Ends the answer's last line and waits until everything is written. */
  end(): Promise<void>;
}

/**
 * Writes in order, starting with the answer to the prompt.
 * @param promptId null before it is sent
 * @param fail called when a write fails, for example because the reader has exited
 */
export function makePrinter(
  context: Context,
  promptId: () => string | null,
  fail: (reason: unknown) => void,
): Printer {
  const { out, system } = context;
  const paint = painter(out.colour(system.stderr));
  let written: Promise<void> = Promise.resolve();
  const write = (work: () => Promise<void>) => {
    written = written.then(work);
    written.catch(fail);
  };
  const note = (text: string) =>
    write(() => (out.quiet ? Promise.resolve() : system.stderr.write(`${text}\n`)));
  const sanitize = sanitizer();
  let ending = "\n";
  const writeText = (text: string) => {
    if (text === "") return;
    ending = text;
    write(() => system.stdout.write(text));
  };
  const writeJson = (event: ChatEvent) => {
    const value = jsonOf(event);
    if (value !== null) write(() => out.event(value));
  };
  const breakLine = () => writeText(sanitize.end() + (ending.endsWith("\n") ? "" : "\n"));

  return {
    event(event) {
      const id = promptId();
      const isOurs = !("turn" in event) || (id !== null && event.turn.prompt_id === id);
      if (!isOurs) return;
      if (out.data.json) {
        if (event.type !== "asked") writeJson(event);
        return;
      }
      switch (event.type) {
        case "text":
          if (event.begins) breakLine();
          return writeText(sanitize.text(event.text));
        case "tool":
          return event.state === "running" ? undefined : note(toolLine(event, paint));
        case "plan":
          return note(planText(event.plan));
        case "retry":
          return note(retryLine(event.retry, system.now()));
        case "lost":
          return note(`${lines(event.reason)} Reconnecting…`);
        case "found":
          return note("Reconnected.");
      }
    },
    asked(ask, notice, isOwn) {
      if (out.data.json) writeJson({ type: "asked", ask });
      else if (!isOwn) note(notice);
    },
    end() {
      if (!out.data.json) breakLine();
      return written;
    },
  };
}
