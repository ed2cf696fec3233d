import type { CreatePromptBody, Prompt } from "../../../src/contract/prompt.ts";
import type { Session, WaitingFor } from "../../../src/contract/session.ts";
import { follow } from "../../../src/conversation/follow.ts";
import { isTransient } from "../../../src/conversation/transport.ts";
import { path } from "../../api.ts";
import { attachedIn, readAttachments } from "../../attachments.ts";
import type { Context } from "../../context.ts";
import { CliError, type LocalCode, usage } from "../../failure.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-prompts.ts";
import { count, oneLine } from "../../text.ts";
import { transportOf } from "../../transport.ts";
import { withLimitHint } from "./new.ts";
import { type Found, findSession } from "./reference.ts";
import { promptLine } from "./show-prompt.ts";
import { shortId } from "./show-session.ts";
import { agentWaiting, waitingNotice } from "./waiting.ts";

/** The default of --timeout for --wait. */
const WAIT_SECONDS = 1800;
/** Poll interval while there are no events: the stream may be disconnected. */
const POLL_MS = 5_000;
/** Attempts of a request whose response was lost. A retry is safe: the prompt id makes it idempotent. */
const ATTEMPTS = 3;

export const prompt: Handler<typeof table.prompt> = async (context, { args, flags }) => {
  const text = args.text === "-" ? await readText(context, "-", "<text>") : args.text;
  if (text.trim() === "") throw usage("The prompt is empty.");
  const files = await readAttachments(context, flags.attach);
  const found = await findSession(context, args.id);
  const body: CreatePromptBody = { prompt_id: crypto.randomUUID(), text };
  if (files.length > 0) body.attachments = attachedIn(files);
  const taken = await send(found, body);
  const id = shortId(taken);
  if (!flags.wait) {
    await context.out.result(taken, (view) => promptLine(taken, view));
    return context.out.note((await blockedBy(context, found, taken)) ?? `Next: svc sessions prompts ${id}`);
  }
  await context.out.note(
    `Prompt ${taken.number} of session ${id} is queued. Ctrl-C ends the wait, not the prompt.`,
  );
  const over = await waitForEnd(context, found, taken);
  if (over.state !== "answered") throw notAnswered(over);
  await context.out.result(over, (view) => promptLine(over, view));
};

/** Queues a prompt. Its id makes a retry safe. */
export async function send(found: Found, body: CreatePromptBody): Promise<Prompt> {
  for (let left = ATTEMPTS; ; left--) {
    try {
      const call = { path: `${found.path}/prompt`, body, slow: true };
      return (await found.api.call<{ prompt: Prompt }>(call)).prompt;
    } catch (error) {
      const isLost = error instanceof CliError && ["network", "timeout"].includes(error.code);
      if (!isLost || left <= 1) throw withLimitHint(error);
    }
  }
}

/** What the agent waits for while a prompt is in the queue, and how to answer it; null if there is nothing to report. */
async function blockedBy({ out }: Context, found: Found, { state }: Prompt): Promise<string | null> {
  if (state !== "queued" || out.quiet || out.data.json) return null;
  const { session_id, waiting_for } = await found.api.call<Session>({ path: found.path });
  return waiting_for && waitingNotice(session_id, waiting_for);
}

/**
 * Waits until a prompt has ended. If the agent waits for a person, a terminal shows that, and the wait continues.
 * @throws CliError `timeout`, `session_failed`, `session_stopped`, `session_deleted`, and without a terminal `agent_waiting`
 */
export async function waitForEnd(context: Context, found: Found, taken: Prompt): Promise<Prompt> {
  const seconds = context.globals.timeout ?? WAIT_SECONDS;
  const end = performance.now() + seconds * 1000;
  const stop = new AbortController();
  const changes = changesOf(found, stop.signal);
  try {
    for (let last = taken, asked = ""; ; ) {
      const next = changes.next();
      const { prompt, waiting } = await poll(found, last);
      last = prompt;
      if (last.ended_at !== null) return last;
      if (waiting !== null && waiting.request_id !== asked) {
        asked = waiting.request_id;
        if (!isWatched(context)) throw agentWaiting(last.session_id, waiting);
        await context.out.note(waitingNotice(last.session_id, waiting));
      }
      const left = end - performance.now();
      if (left <= 0) throw late(last, seconds);
      await Promise.race([next, context.system.sleep(Math.min(POLL_MS, left), stop.signal)]);
    }
  } finally {
    stop.abort();
  }
}

/** Whether a person sees the notices of this command. */
const isWatched = ({ system, out }: Context): boolean => system.stderr.isTTY && !out.quiet && !out.data.json;

interface Polled {
  prompt: Prompt;
  waiting: WaitingFor | null;
}

/** The current state of a prompt, and what the agent waits for. @throws CliError if it cannot be answered any more */
async function poll(found: Found, last: Prompt): Promise<Polled> {
  try {
    const call = { path: `${found.path}${path`/prompts/${last.prompt_id}`}` };
    const { prompt } = await found.api.call<{ prompt: Prompt }>(call);
    if (prompt.ended_at !== null) return { prompt, waiting: null };
    const session = await found.api.call<Session>({ path: found.path });
    if (prompt.state === "queued") requireLiveSession(session);
    return { prompt, waiting: session.waiting_for };
  } catch (error) {
    if (error instanceof CliError && error.code === "not_found") throw deleted(last);
    if (!isTransient(error)) throw error;
    return { prompt: last, waiting: null };
  }
}

/** Resolves `next` at each event of the session. A failure of the stream shows in the next poll. */
function changesOf({ api, path }: Found, signal: AbortSignal): { next(): Promise<void> } {
  let wake = () => {};
  const listen = async () => {
    for await (const { type } of follow(transportOf(api), path, signal)) {
      if (type === "prompt" || type === "session" || type === "deleted") wake();
    }
  };
  listen().catch(() => {});
  return {
    next() {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      return promise;
    },
  };
}

/** @throws CliError if the session does not run queued prompts without a restart */
function requireLiveSession(session: Session): void {
  const isStopped = session.status === "stopped" && session.stop_reason !== "server";
  if (session.status !== "failed" && !isStopped) return;
  const id = shortId(session);
  throw new CliError(
    isStopped ? "session_stopped" : "session_failed",
    `The session ${id} ${isStopped ? "was stopped" : "failed"}; the prompt stays in its queue.`,
    { session_id: session.session_id, hint: `To continue: svc sessions restart ${id}` },
  );
}

function notAnswered({ state, error, session_id, number }: Prompt): CliError {
  const why = error === null ? "" : `: ${oneLine(error)}`;
  const { code, how } = ENDS[state] ?? { code: "prompt_failed", how: "ended" };
  return new CliError(code, `Prompt ${number} ${how}${why}`, {
    session_id,
    hint: `To list all prompts: svc sessions prompts ${shortId({ session_id })}`,
  });
}

const ENDS: Readonly<Record<string, { code: LocalCode; how: string }>> = {
  failed: { code: "prompt_failed", how: "failed" },
  aborted: { code: "prompt_aborted", how: "was aborted" },
  interrupted: { code: "prompt_interrupted", how: "was interrupted" },
};

function late({ session_id, number, state }: Prompt, seconds: number): CliError {
  return new CliError(
    "timeout",
    `Prompt ${number} was not answered within ${count(seconds, "second")}. It is ${oneLine(state)}.`,
    { session_id, hint: `It continues. To check it: svc sessions prompts ${shortId({ session_id })}` },
  );
}

function deleted({ session_id }: Prompt): CliError {
  const message = `The session ${shortId({ session_id })} was deleted.`;
  return new CliError("session_deleted", message, { session_id });
}
