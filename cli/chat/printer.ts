import type { ChatEvent } from "../../src/conversation/chat-client.ts";
import type { Ask } from "../../src/conversation/runtime-event.ts";
import type { Context } from "../context.ts";
import { painter } from "../output.ts";
import { lines } from "../text.ts";
import { jsonOf } from "./json.ts";
import { retryLine, toolLine } from "./lines.ts";
import { sanitizer } from "./sanitizer.ts";

/** Events that are shown only of the own prompt. */
const OF_ONE_PROMPT = ["text", "tool", "prompt", "attached", "error"];

/** Prints the answer to one prompt, and the agent's actions. */
export interface Printer {
  event(event: ChatEvent): void;
  /** A request of the agent: for this prompt, or a notice of what another prompt waits for. */
  asked(ask: Ask, notice: string, isOwn: boolean): void;
  /** Ends the answer's last line and waits until everything is written. */
  end(): Promise<void>;
}

/**
 * Writes in order, starting with the answer to the prompt.
 * @param messageId the prompt's; null before it is sent
 * @param fail called when a write fails, for example because the reader has exited
 */
export function makePrinter(
  context: Context,
  messageId: () => string | null,
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
  let isOurs = false;
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
      const id = messageId();
      if (id !== null && "answers" in event && event.answers === id) isOurs = true;
      const isPrompt = (event.type === "prompt" || event.type === "attached") && event.messageId === id;
      if (out.data.json) {
        const isRelevant = isOurs || isPrompt || !OF_ONE_PROMPT.includes(event.type);
        if (isRelevant && event.type !== "asked") writeJson(event);
        return;
      }
      switch (event.type) {
        case "text":
          if (!isOurs) return;
          if (event.begins) breakLine();
          return writeText(sanitize.text(event.text));
        case "tool":
          return isOurs && event.use.state !== "running"
            ? note(toolLine(event.use, event.isSubagent, paint))
            : undefined;
        case "status":
          return event.status.type === "retry" ? note(retryLine(event.status, system.now())) : undefined;
        case "lost":
          return note(`${lines(event.reason)} Reconnecting…`);
        case "found":
          return note("Reconnected.");
        case "gap":
          return note("Part of the conversation was missed.");
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
