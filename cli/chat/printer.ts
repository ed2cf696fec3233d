import type { Ask } from "../../src/conversation/events.ts";
import type { News } from "../../src/conversation/talk.ts";
import type { Context } from "../context.ts";
import { painter } from "../output.ts";
import { lines } from "../text.ts";
import { cleaner } from "./cleaner.ts";
import { jsonOf } from "./json.ts";
import { askLine, retryLine, toolLine } from "./words.ts";

/** Where the answer to one prompt is printed, and what is done for it. */
export interface Printer {
  news(news: News): void;
  refused(ask: Ask): void;
  /** Ends the answer's last line, once everything is written. */
  end(): Promise<void>;
}

/**
 * Writes one after the other, from the answer's first word on.
 * @param messageId the prompt's; null before it is said
 * @param fail is called when there is nobody any more who reads
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
  const clean = cleaner();
  let isOurs = false;
  let ending = "\n";
  const say = (text: string) => {
    if (text === "") return;
    ending = text;
    write(() => system.stdout.write(text));
  };
  const tell = (news: News) => {
    const value = jsonOf(news);
    if (value !== null) write(() => out.event(value));
  };
  const breakLine = () => say(clean.end() + (ending.endsWith("\n") ? "" : "\n"));

  return {
    news(news) {
      const id = messageId();
      if (id !== null && "answers" in news && news.answers === id) isOurs = true;
      const isPrompt = news.type === "prompt" && news.messageId === id;
      if (out.data.json) {
        const isTold = isOurs || isPrompt || !["text", "tool", "prompt", "error"].includes(news.type);
        if (isTold && news.type !== "asked") tell(news);
        return;
      }
      switch (news.type) {
        case "text":
          if (!isOurs) return;
          if (news.begins) breakLine();
          return say(clean.text(news.text));
        case "tool":
          return isOurs && news.use.state !== "running"
            ? note(toolLine(news.use, news.isSubagent, paint))
            : undefined;
        case "status":
          return news.status.type === "retry" ? note(retryLine(news.status, system.now())) : undefined;
        case "lost":
          return note(`${lines(news.reason)} Trying again…`);
        case "found":
          return note("Connected again.");
        case "gap":
          return note("Some of the conversation was missed.");
      }
    },
    refused(ask) {
      if (out.data.json) tell({ type: "asked", ask });
      else note(`Refused, since nobody can be asked: ${askLine(ask)}`);
    },
    end() {
      if (!out.data.json) breakLine();
      return written;
    },
  };
}
