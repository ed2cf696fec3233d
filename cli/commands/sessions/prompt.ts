import type { CreatePromptBody, Prompt } from "../../../src/contract/prompt.ts";
import type { Session } from "../../../src/contract/session.ts";
import { follow } from "../../../src/conversation/follow.ts";
import { isTransient } from "../../../src/conversation/transport.ts";
import { path } from "../../api.ts";
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

/** The default of --timeout for --wait. */
const WAIT_SECONDS = 1800;
/** Poll interval while there are no events: the stream may be disconnected. */
const POLL_MS = 5_000;
/** Attempts of a request whose response was lost. A retry is safe: the prompt id makes it idempotent. */
const ATTEMPTS = 3;

export const prompt: Handler<typeof table.prompt> = async (context, { args, flags }) => {
  const text = args.text === "-" ? await readText(context, "-", "<text>") : args.text;
  if (text.trim() === "") throw usage("The prompt is empty.");
  const found = await findSession(context, args.id);
  const taken = await send(found, { prompt_id: crypto.randomUUID(), text });
  const id = shortId(taken);
  if (!flags.wait) {
    await context.out.result(taken, (view) => promptLine(taken, view));
    return context.out.note(`Next: svc sessions prompts ${id}`);
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

/** Waits until a prompt has ended. @throws CliError `timeout`, `session_failed`, `session_stopped`, `session_deleted` */
export async function waitForEnd(context: Context, found: Found, taken: Prompt): Promise<Prompt> {
  const seconds = context.globals.timeout ?? WAIT_SECONDS;
  const end = performance.now() + seconds * 1000;
  const stop = new AbortController();
  const changes = changesOf(found, stop.signal);
  try {
    for (let last = taken; ; ) {
      const next = changes.next();
      last = await poll(found, last);
      if (last.ended_at !== null) return last;
      const left = end - performance.now();
      if (left <= 0) throw late(last, seconds);
      await Promise.race([next, context.system.sleep(Math.min(POLL_MS, left), stop.signal)]);
    }
  } finally {
    stop.abort();
  }
}

/** The current state of a prompt. @throws CliError if it cannot be answered any more */
async function poll(found: Found, last: Prompt): Promise<Prompt> {
  try {
    const call = { path: `${found.path}${path`/prompts/${last.prompt_id}`}` };
    const { prompt } = await found.api.call<{ prompt: Prompt }>(call);
    if (prompt.state === "queued") await requireLiveSession(found, prompt);
    return prompt;
  } catch (error) {
    if (error instanceof CliError && error.code === "not_found") throw deleted(last);
    if (!isTransient(error)) throw error;
    return last;
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
async function requireLiveSession(found: Found, { session_id }: Prompt): Promise<void> {
  const session = await found.api.call<Session>({ path: found.path });
  const isStopped = session.status === "stopped" && session.stop_reason !== "server";
  if (session.status !== "failed" && !isStopped) return;
  const id = shortId(session);
  throw new CliError(
    isStopped ? "session_stopped" : "session_failed",
    `The session ${id} ${isStopped ? "was stopped" : "failed"}; the prompt stays in its queue.`,
    { session_id, hint: `To continue: svc sessions restart ${id}` },
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
