import type { CreatePromptBody, Prompt } from "../../../src/contract/prompt.ts";
import type { Session } from "../../../src/contract/session.ts";
import { follow } from "../../../src/conversation/follow.ts";
import { isTransient } from "../../../src/conversation/transport.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-prompts.ts";
import { count, oneLine } from "../../text.ts";
import { transportOf } from "../../transport.ts";
import { freeing } from "./new.ts";
import { type Found, findSession } from "./reference.ts";
import { promptLine } from "./show-prompt.ts";
import { shortId } from "./show-session.ts";

/** Seconds that an answer is waited for unless --timeout says otherwise. */
const WAIT_SECONDS = 1800;
/** Between two looks where nothing is heard: the stream of events may be cut. */
const LOOK_MS = 5_000;
/** Tries of a request whose answer was lost: it has an id of ours, and is taken once. */
const TRIES = 3;

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
  await context.out.note(`Prompt ${taken.number} of session ${id} is taken. Ctrl-C leaves it going.`);
  const over = await untilOver(context, found, taken);
  if (over.state !== "answered") throw notAnswered(over);
  await context.out.result(over, (view) => promptLine(over, view));
};

async function send(found: Found, body: CreatePromptBody): Promise<Prompt> {
  for (let left = TRIES; ; left--) {
    try {
      const call = { path: `${found.path}/prompt`, body, slow: true };
      return (await found.api.call<{ prompt: Prompt }>(call)).prompt;
    } catch (error) {
      const isLost = error instanceof CliError && ["network", "timeout"].includes(error.code);
      if (!isLost || left <= 1) throw freeing(error);
    }
  }
}

/** Waits until a prompt is over. @throws CliError `timeout`, `session_failed`, `session_stopped`, `session_deleted` */
async function untilOver(context: Context, found: Found, taken: Prompt): Promise<Prompt> {
  const seconds = context.globals.timeout ?? WAIT_SECONDS;
  const end = performance.now() + seconds * 1000;
  const stop = new AbortController();
  const news = newsOf(found, stop.signal);
  try {
    for (let last = taken; ; ) {
      const next = news.next();
      last = await look(found, last);
      if (last.ended_at !== null) return last;
      const left = end - performance.now();
      if (left <= 0) throw late(last, seconds);
      await Promise.race([next, context.system.sleep(Math.min(LOOK_MS, left), stop.signal)]);
    }
  } finally {
    stop.abort();
  }
}

/** What has become of a prompt. @throws CliError when nothing more will */
async function look(found: Found, last: Prompt): Promise<Prompt> {
  try {
    const call = { path: `${found.path}${path`/prompts/${last.prompt_id}`}` };
    const { prompt } = await found.api.call<{ prompt: Prompt }>(call);
    if (prompt.state === "queued") await requireTurn(found, prompt);
    return prompt;
  } catch (error) {
    if (error instanceof CliError && error.code === "not_found") throw deleted(last);
    if (!isTransient(error)) throw error;
    return last;
  }
}

/** Hastens the looks at a session; what is wrong with its stream, a look tells. */
function newsOf({ api, path }: Found, signal: AbortSignal): { next(): Promise<void> } {
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

/** @throws CliError when the session will not come to it by itself */
async function requireTurn(found: Found, { session_id }: Prompt): Promise<void> {
  const session = await found.api.call<Session>({ path: found.path });
  const isStopped = session.status === "stopped" && session.stop_reason !== "server";
  if (session.status !== "failed" && !isStopped) return;
  const id = shortId(session);
  throw new CliError(
    isStopped ? "session_stopped" : "session_failed",
    `The session ${id} ${isStopped ? "was stopped" : "has failed"}; the prompt waits in its queue.`,
    { session_id, hint: `To go on: svc sessions restart ${id}` },
  );
}

function notAnswered({ state, error, session_id, number }: Prompt): CliError {
  const why = error === null ? "" : `: ${oneLine(error)}`;
  return new CliError(`prompt_${oneLine(state)}`, `Prompt ${number} ${HOW[state] ?? "is over"}${why}`, {
    session_id,
    hint: `All of them: svc sessions prompts ${shortId({ session_id })}`,
  });
}

const HOW: Readonly<Record<string, string>> = {
  failed: "has failed",
  aborted: "was aborted",
  interrupted: "was interrupted",
};

function late({ session_id, number, state }: Prompt, seconds: number): CliError {
  return new CliError(
    "timeout",
    `After ${count(seconds, "second")} prompt ${number} is not answered yet, but ${oneLine(state)}.`,
    { session_id, hint: `It goes on. To look in: svc sessions prompts ${shortId({ session_id })}` },
  );
}

function deleted({ session_id }: Prompt): CliError {
  const message = `The session ${shortId({ session_id })} was deleted meanwhile.`;
  return new CliError("session_deleted", message, { session_id });
}
