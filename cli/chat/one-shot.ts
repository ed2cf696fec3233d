import { ChatClient, type ChatEvent } from "../../src/conversation/chat-client.ts";
import type { Outcome } from "../../src/conversation/outcome.ts";
import type { Runtime } from "../../src/conversation/runtime.ts";
import type { Context } from "../context.ts";
import { CliError, type LocalCode } from "../failure.ts";
import { count } from "../text.ts";
import { askLine, outcomeLine } from "./lines.ts";
import { makePrinter } from "./printer.ts";

type Ended = Extract<ChatEvent, { type: "ended" }>;

/** How long Ctrl-C waits for the abort. */
const ABORT_MS = 3000;

/**
 * Sends one prompt. Streams the answer to stdout and the agent's actions to stderr. Refuses all requests of the agent,
 * because there is no terminal to answer them on.
 * @throws CliError `run_…` for a run that did not complete; Ctrl-C aborts the run and ends svc by the signal
 */
export async function oneShot(context: Context, runtime: Runtime, text: string): Promise<void> {
  /** Created when the prompt is sent, and not before: the runtime orders messages by id. */
  let messageId: string | null = null;
  const { promise: over, resolve, reject } = Promise.withResolvers<Ended>();
  const { promise: ready, resolve: begin } = Promise.withResolvers<void>();
  const print = makePrinter(context, () => messageId, reject);
  /** The refused requests by id. */
  const refused = new Map<string, string>();
  let isAnswered = false;
  const client = new ChatClient(runtime, (event) => {
    print.event(event);
    if (event.type === "caught up") begin();
    if (event.type === "turn" && messageId !== null && event.answers === messageId) isAnswered = true;
    // requests of other prompts are for their authors to answer
    for (const ask of isAnswered ? client.asks : []) {
      if (refused.has(ask.id)) continue;
      refused.set(ask.id, askLine(ask));
      print.refused(ask);
      client.refuse(ask).catch(reject);
    }
    if (event.type === "ended" && event.messageId === messageId) resolve(event);
  });
  const interrupt = interruption(context, client);
  const late = limit(context, runtime);
  const listening = client.listen().then(() => new Promise<never>(() => {}));
  try {
    await Promise.race([ready, listening, late.promise]);
    const onId = (id: string) => {
      messageId = id;
    };
    const sent = ready.then(() => client.prompt(text, onId)).then(() => new Promise<never>(() => {}));
    const ended = await Promise.race([over, sent, listening, late.promise]);
    await print.end();
    const [asked = ""] = refused.values();
    if (ended.outcome !== "completed" || asked !== "") throw failureOf(context, runtime, ended, asked);
  } finally {
    client.end();
    interrupt.off();
    late.off();
    await print.end();
  }
}

function interruption({ out }: Context, client: ChatClient): { off(): void } {
  const die = () => {
    process.off("SIGINT", onInterrupt);
    process.kill(process.pid, "SIGINT");
  };
  let times = 0;
  const onInterrupt = () => {
    if (times++ > 0 || !client.isBusy) return die();
    void out.note("Aborting the agent's run…");
    void Promise.race([client.abort().catch(() => {}), Bun.sleep(ABORT_MS)]).then(die);
  };
  process.on("SIGINT", onInterrupt);
  return { off: () => process.off("SIGINT", onInterrupt) };
}

/** --timeout ends the wait, not the run. */
function limit({ globals }: Context, { session }: Runtime): { promise: Promise<never>; off(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const seconds = globals.timeout;
  if (seconds === undefined) return { promise, off() {} };
  const timer = setTimeout(() => {
    const sentence = `The agent did not finish its answer within ${count(seconds, "second")}. The run continues.`;
    const hint = `To see it: svc sessions chat ${session.session_id.slice(0, 8)}`;
    reject(new CliError("timeout", sentence, { session_id: session.session_id, hint }));
  }, seconds * 1000);
  return { promise, off: () => clearTimeout(timer) };
}

const CODES: Readonly<Record<Outcome, LocalCode>> = {
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
    const sentence = `The agent's request was refused, because there is no terminal to answer it on: ${refused}`;
    return new CliError("run_rejected", sentence, {
      session_id,
      hint: `To answer it yourself on a terminal: svc sessions chat ${id}`,
    });
  }
  const again = system.stdin.isTTY ? "" : " --prompt <text>";
  const hint =
    outcome === "failed"
      ? `The session's log: svc sessions logs ${id}`
      : `To continue: svc sessions chat ${id}${again}`;
  const sentence = outcome === "completed" ? "" : outcomeLine(outcome, error);
  return new CliError(CODES[outcome], sentence, { session_id, hint });
}
