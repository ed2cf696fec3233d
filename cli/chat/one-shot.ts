import type { Outcome } from "../../src/conversation/outcome.ts";
import type { Runtime } from "../../src/conversation/runtime.ts";
import { type News, Talk } from "../../src/conversation/talk.ts";
import type { Context } from "../context.ts";
import { CliError } from "../failure.ts";
import { count } from "../text.ts";
import { makePrinter } from "./printer.ts";
import { askLine, outcomeLine } from "./words.ts";

type Ended = Extract<News, { type: "ended" }>;

/** How long Ctrl-C waits for the run to rest. */
const ABORT_MS = 3000;

/**
 * Asks one thing of the agent. Its words come on stdout as they come, what it does on stderr; nobody is asked anything,
 * so whatever the run asks is refused.
 * @throws CliError `run_…` for a run that did not end well; Ctrl-C aborts the run and ends svc by the signal
 */
export async function oneShot(context: Context, runtime: Runtime, words: string): Promise<void> {
  /** Made when the prompt is said, and not before: by it the runtime knows what came after what. */
  let messageId: string | null = null;
  const { promise: over, resolve, reject } = Promise.withResolvers<Ended>();
  const { promise: ready, resolve: begin } = Promise.withResolvers<void>();
  const print = makePrinter(context, () => messageId, reject);
  /** What nobody could be asked, by its id. */
  const refused = new Map<string, string>();
  let isAnswered = false;
  const talk = new Talk(runtime, (news) => {
    print.news(news);
    if (news.type === "caught up") begin();
    if (news.type === "turn" && messageId !== null && news.answers === messageId) isAnswered = true;
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
  const late = limit(context, runtime);
  const listening = talk.listen().then(() => new Promise<never>(() => {}));
  try {
    await Promise.race([ready, listening, late.promise]);
    const name = (id: string) => {
      messageId = id;
    };
    const said = ready.then(() => talk.say(words, name)).then(() => new Promise<never>(() => {}));
    const ended = await Promise.race([over, said, listening, late.promise]);
    await print.end();
    const [asked = ""] = refused.values();
    if (ended.outcome !== "completed" || asked !== "") throw failureOf(context, runtime, ended, asked);
  } finally {
    talk.end();
    interrupt.off();
    late.off();
    await print.end();
  }
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

/** --timeout ends the waiting, and not the run. */
function limit({ globals }: Context, { session }: Runtime): { promise: Promise<never>; off(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const seconds = globals.timeout;
  if (seconds === undefined) return { promise, off() {} };
  const timer = setTimeout(() => {
    const sentence = `After ${count(seconds, "second")} the agent has not ended its answer. It goes on.`;
    const hint = `To see it: svc sessions chat ${session.session_id.slice(0, 8)}`;
    reject(new CliError("timeout", sentence, { session_id: session.session_id, hint }));
  }, seconds * 1000);
  return { promise, off: () => clearTimeout(timer) };
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
  const words = outcome === "completed" ? "" : outcomeLine(outcome, error);
  return new CliError(CODES[outcome], words, { session_id, hint });
}
