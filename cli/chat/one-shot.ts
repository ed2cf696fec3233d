import type { Context } from "../context.ts";
import { CliError } from "../failure.ts";
import { painter } from "../output.ts";
import { lines } from "../text.ts";
import { cleaner } from "./cleaner.ts";
import type { Outcome } from "./conversation.ts";
import type { Ask } from "./events.ts";
import { jsonOf } from "./json.ts";
import { newMessageId, type Runtime } from "./runtime.ts";
import { type News, Talk } from "./talk.ts";
import { askLine, outcomeWords, retryLine, toolLine } from "./words.ts";

type Ended = Extract<News, { type: "ended" }>;

/** How long Ctrl-C waits for the run to rest. */
const ABORT_MS = 3000;

/**
 * Asks one thing of the agent. Its words come on stdout as they come, what it does on stderr; nobody is asked anything,
 * so whatever the run asks is refused.
 * @throws CliError `run_…` for a run that did not end well; Ctrl-C aborts the run and ends svc by the signal
 */
export async function oneShot(context: Context, runtime: Runtime, words: string): Promise<void> {
  const messageId = newMessageId();
  const { promise: over, resolve, reject } = Promise.withResolvers<Ended>();
  const { promise: ready, resolve: begin } = Promise.withResolvers<void>();
  const print = makePrinter(context, messageId);
  /** What nobody could be asked, by its id. */
  const refused = new Map<string, string>();
  let isAnswered = false;
  const talk = new Talk(runtime, (news) => {
    print.news(news);
    if (news.type === "caught up") begin();
    if (news.type === "turn" && news.answers === messageId) isAnswered = true;
    // what others have asked for is theirs to allow
    for (const ask of isAnswered ? talk.asks : []) {
      if (refused.has(ask.id)) continue;
      refused.set(ask.id, askLine(ask));
      print.refused(ask);
      talk.refuse(ask).catch(reject);
    }
    if (news.type === "ended" && news.messageId === messageId) resolve(news);
  });
  const interrupt = interruption(context, talk);
  const listening = talk.listen().then(() => new Promise<never>(() => {}));
  try {
    await Promise.race([ready, listening, over]);
    const said = ready.then(() => talk.say(words, messageId)).then(() => new Promise<never>(() => {}));
    const ended = await Promise.race([over, said, listening]);
    await print.end();
    const [asked = ""] = refused.values();
    if (ended.outcome !== "completed" || asked !== "") throw failureOf(context, runtime, ended, asked);
  } finally {
    talk.end();
    interrupt.off();
    await print.end();
  }
}

interface Printer {
  news(news: News): void;
  refused(ask: Ask): void;
  end(): Promise<void>;
}

/** Writes one after the other, from the answer's first word on. */
function makePrinter(context: Context, messageId: string): Printer {
  const { out, system } = context;
  const paint = painter(out.colour(system.stderr));
  let written: Promise<void> = Promise.resolve();
  const write = (work: () => Promise<void>) => {
    written = written.then(work);
    // a stream that cannot be written is told at the end
    written.catch(() => {});
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
      if ("answers" in news && news.answers === messageId) isOurs = true;
      const isPrompt = news.type === "prompt" && news.messageId === messageId;
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
        case "ended":
          return news.messageId === messageId ? breakLine() : undefined;
      }
    },
    refused(ask) {
      if (out.data.json) tell({ type: "asked", ask });
      else note(`Refused, since nobody can be asked: ${askLine(ask)}`);
    },
    end: () => written,
  };
}

function interruption({ out }: Context, talk: Talk): { off(): void } {
  const die = () => {
    process.off("SIGINT", onInterrupt);
    process.kill(process.pid, "SIGINT");
  };
  let times = 0;
  const onInterrupt = () => {
    if (times++ > 0 || !talk.isBusy) return die();
    void out.note("Aborting the agent's run…");
    void Promise.race([talk.abort().catch(() => {}), Bun.sleep(ABORT_MS)]).then(die);
  };
  process.on("SIGINT", onInterrupt);
  return { off: () => process.off("SIGINT", onInterrupt) };
}

const CODES: Readonly<Record<Outcome, string>> = {
  completed: "run_rejected",
  failed: "run_failed",
  aborted: "run_aborted",
  rejected: "run_rejected",
  cut_off: "run_cut_off",
  unanswered: "run_unanswered",
};

function failureOf(
  { system }: Context,
  { session }: Runtime,
  { outcome, error }: Ended,
  refused: string,
): CliError {
  const { session_id } = session;
  const id = session_id.slice(0, 8);
  if (refused !== "" && (outcome === "completed" || outcome === "rejected")) {
    const sentence = `The agent asked for something, and nobody can be asked here: ${refused}`;
    return new CliError("run_rejected", sentence, {
      session_id,
      hint: `To answer it yourself, on a terminal: svc sessions chat ${id}`,
    });
  }
  const again = system.stdin.isTTY ? "" : " --prompt <text>";
  const hint =
    outcome === "failed"
      ? `The session's log: svc sessions logs ${id}`
      : `To go on: svc sessions chat ${id}${again}`;
  const words = outcome === "completed" ? "" : outcomeWords(outcome, error);
  return new CliError(CODES[outcome], words, { session_id, hint });
}
