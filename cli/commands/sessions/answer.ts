import { PERMISSION_REPLIES, type Session, type WaitingFor } from "../../../src/contract/session.ts";
import { CliError, usage } from "../../failure.ts";
import { choose, text } from "../../prompt.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-prompts.ts";
import { oneLine } from "../../text.ts";
import { findSession } from "./reference.ts";
import { shortId, waitingText } from "./show-session.ts";

export const answer: Handler<typeof table.answer> = async (context, { args }) => {
  const { out } = context;
  const found = await findSession(context, args.id);
  const session = await found.api.call<Session>({ path: found.path });
  const { waiting_for: waiting } = session;
  if (waiting === null)
    throw new CliError("not_waiting", `The agent of session ${shortId(session)} waits for nothing.`, {
      hint: `\`svc sessions info ${shortId(session)}\` shows what it does.`,
    });
  const request = oneLine(waitingText(session) ?? "");
  const given = answerTo(waiting, args.answer ?? (await ask(waiting, request)));
  const body = { request_id: waiting.request_id, answer: given };
  await found.api.call({ method: "POST", path: `${found.path}/answer`, body });
  const done = { session_id: found.id, request_id: waiting.request_id, answer: given };
  await out.result(
    done,
    ({ tty, paint }) => `${paint.green(oneLine(tty ? shortId(session) : found.id))}: answered\n`,
  );
};

/** Asks on the terminal. */
async function ask({ kind, questions }: WaitingFor, request: string): Promise<string> {
  const labels =
    kind === "permission" ? PERMISSION_REPLIES : (questions[0]?.options.map(({ label }) => label) ?? []);
  const isOpen = kind === "question" && (labels.length === 0 || questions[0]?.custom === true);
  if (isOpen) return await text(request);
  return await choose(
    request,
    labels.map((value) => ({ value, label: value })),
  );
}

function answerTo({ kind, questions }: WaitingFor, given: string): string | string[][] {
  if (kind === "question") {
    if (questions.length === 1) return given;
    throw usage(
      `The agent asks ${questions.length} questions at once.`,
      "Answer them on the session's page, or in `svc sessions chat`.",
    );
  }
  if (PERMISSION_REPLIES.some((reply) => reply === given)) return given;
  throw usage(
    `Not an answer to a permission request: ${oneLine(given).slice(0, 100)}`,
    "Answer once, always or reject.",
  );
}
