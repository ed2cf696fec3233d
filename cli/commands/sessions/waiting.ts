import type { WaitingFor } from "../../../src/contract/session.ts";
import { CliError } from "../../failure.ts";
import { oneLine } from "../../text.ts";
import { shortId, waitingText } from "./show-session.ts";

/** The error of a command that does not wait for a person to answer the agent. The run continues after the answer. */
export function agentWaiting(session_id: string, request: WaitingFor): CliError {
  const hint = `${answerLine(session_id, request)}\n      The run continues then. To see it: svc sessions conversation ${shortId({ session_id })}`;
  return new CliError("agent_waiting", requestLine(request), { session_id, hint });
}

/** The request and the command that answers it, as a notice for a person who continues to wait. */
export const waitingNotice = (session_id: string, request: WaitingFor): string =>
  `${requestLine(request)}\n${answerLine(session_id, request)}`;

function requestLine(request: WaitingFor): string {
  return `The agent waits for an answer: ${oneLine(waitingText({ waiting_for: request }) ?? "")}`;
}

function answerLine(session_id: string, { kind, questions }: WaitingFor): string {
  const id = shortId({ session_id });
  if (kind === "permission") return `To allow it: svc sessions answer ${id} once (or always, or reject)`;
  // `answer` takes one
  if (questions.length > 1) return `To answer: svc sessions chat ${id}`;
  return `To answer: svc sessions answer ${id} "<text>"`;
}
