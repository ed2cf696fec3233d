import type { Attachment } from "../../src/contract/attachment.ts";
import type { Session } from "../../src/contract/session.ts";
import type { Outcome } from "../../src/conversation/text.ts";
import type { Found } from "../commands/sessions/reference.ts";
import { agentWaiting, waitingNotice } from "../commands/sessions/waiting.ts";
import type { Context } from "../context.ts";
import { CliError, type LocalCode } from "../failure.ts";
import { count } from "../text.ts";
import { ChatClient } from "./chat-client.ts";
import type { PromptEnd } from "./chat-event.ts";
import { outcomeLine } from "./lines.ts";
import { makePrinter } from "./printer.ts";

/** How long Ctrl-C waits for the abort. */
const ABORT_MS = 3000;

/**
 * Sends one prompt. Streams the answer to stdout and the agent's actions to stderr. Ends when the agent asks something: there
 * is no terminal to answer on, so the request stays open, with the command that answers it.
 * @throws CliError `agent_waiting`, or `run_…` for a run that did not complete; Ctrl-C aborts the run and ends svc by the signal
 */
export async function oneShot(
  context: Context,
  found: Found,
  session: Session,
  text: string,
  files: readonly Attachment[],
): Promise<void> {
  const { session_id } = session;
  let promptId: string | null = null;
  const { promise: over, resolve, reject } = Promise.withResolvers<PromptEnd>();
  const { promise: ready, resolve: begin } = Promise.withResolvers<void>();
  const print = makePrinter(context, () => promptId, reject);
  /** Requests of other prompts that were shown. */
  const shown = new Set<string>();
  const client = new ChatClient(found, session, (event) => {
    print.event(event);
    if (event.type === "caught up") begin();
    if (event.type === "ended" && event.promptId === promptId) resolve(event);
    const { ask } = client;
    if (ask === null) return;
    // requests of other prompts are for their authors to answer
    const isOwn = promptId !== null && client.isStarted(promptId) && !ask.kept;
    if (!shown.has(ask.request_id)) print.asked(ask, waitingNotice(session_id, ask), isOwn);
    shown.add(ask.request_id);
    if (isOwn) reject(agentWaiting(session_id, ask));
  });
  const interrupt = interruption(context, client);
  const late = limit(context, session);
  const listening = client.listen().then(() => new Promise<never>(() => {}));
  try {
    await Promise.race([ready, listening, late.promise]);
    const onId = (id: string) => {
      promptId = id;
    };
    const sent = ready.then(() => client.prompt(text, onId, files)).then(() => new Promise<never>(() => {}));
    const ended = await Promise.race([over, sent, listening, late.promise]);
    await print.end();
    if (ended.outcome !== "completed") throw failureOf(context, session, ended.outcome, ended.error);
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
function limit({ globals }: Context, session: Session): { promise: Promise<never>; off(): void } {
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

type Failed = Exclude<Outcome, "completed">;

const CODES: Readonly<Record<Failed, LocalCode>> = {
  failed: "run_failed",
  aborted: "run_aborted",
  rejected: "run_rejected",
  cut_off: "run_cut_off",
  unanswered: "run_unanswered",
};

function failureOf(
  { system }: Context,
  { session_id }: Session,
  outcome: Failed,
  error: string | null,
): CliError {
  const id = session_id.slice(0, 8);
  const again = system.stdin.isTTY ? "" : " --prompt <text>";
  const hint =
    outcome === "failed"
      ? `The session's log: svc sessions logs ${id}`
      : `To continue: svc sessions chat ${id}${again}`;
  return new CliError(CODES[outcome], outcomeLine(outcome, error), { session_id, hint });
}
