import { SvcError } from "../../contract/errors.ts";
import { type AnswerBody, PERMISSION_REPLIES, type WaitingFor } from "../../contract/session.ts";
import { requestIdOf } from "../../conversation/request.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { isWithinReach } from "../../jobs/places.ts";
import { answerAsk, readAsks } from "./agent.ts";
import { recordAnswer } from "./conversation/answerers.ts";
import { answerKept, type Reply } from "./kept/answer.ts";
import { findSession } from "./read.ts";
import { reachSession } from "./row.ts";

/**
 * Answers what an agent waits for: a permission request, or questions.
 * @throws not_waiting, sandbox_unreachable, not_found, validation_failed
 */
export async function answerSession(
  deps: Deps,
  userId: string,
  project: ProjectRow,
  name: string,
  { request_id, answer }: AnswerBody,
): Promise<{ ok: true }> {
  const { session } = await findSession(deps, project, name);
  const { sessionId, status, keptRequest } = session;
  if (keptRequest?.request_id === request_id) {
    const reply = replyTo(keptRequest, answer) ?? noReply(keptRequest);
    if (await answerKept(deps, userId, { sessionId, request: keptRequest }, reply)) return { ok: true };
    throw notWaiting(`The agent of session ${sessionId} no longer waits for this answer.`);
  }
  if (status !== "running")
    throw notWaiting(`The session ${sessionId} is ${status}, so its agent waits for nothing.`);
  const reached = isWithinReach(deps, session) ? await reachSession(deps, sessionId) : null;
  if (!reached?.daemon)
    throw new SvcError(
      "sandbox_unreachable",
      `The sandbox of session ${sessionId} runs on another server's machine. Answer there.`,
    );
  const ask = (await readAsks(reached.daemon, session.waitingFor)).find(({ id }) => id === request_id);
  if (!ask) throw notWaiting(`The agent of session ${sessionId} no longer waits for this answer.`);
  const reply = replyTo(ask.kind === "question" ? ask : { ...ask, questions: [] }, answer);
  // before it is sent: the conversation names who answered as soon as the agent has the answer
  const record = await recordAnswer(deps, sessionId, requestIdOf(ask), userId);
  if (await answerAsk(reached.daemon, ask, reply)) return { ok: true };
  await record.undo();
  throw notWaiting(`The agent of session ${sessionId} did not take the answer: its run may have ended.`);
}

function notWaiting(message: string): SvcError {
  return new SvcError("not_waiting", message);
}

/** As a prompt, no answer has to be said. */
function noReply({ kind, questions }: WaitingFor): Reply {
  return kind === "permission" ? { reply: "reject" } : { answers: questions.map(() => []) };
}

/** @throws validation_failed if it is no answer to this request */
function replyTo(ask: Pick<WaitingFor, "kind" | "questions">, answer: AnswerBody["answer"]): Reply | null {
  if (answer === null) return null;
  if (ask.kind === "permission") {
    const reply = PERMISSION_REPLIES.find((each) => each === answer);
    if (reply) return { reply };
    throw new SvcError(
      "validation_failed",
      `answer must be ${PERMISSION_REPLIES.join(", ")}: the agent asks for a permission.`,
    );
  }
  const answers = typeof answer === "string" ? [[answer]] : answer;
  if (answers.length === ask.questions.length) return { answers };
  throw new SvcError(
    "validation_failed",
    `answer must have a list of labels for each of the ${ask.questions.length} questions.`,
  );
}
