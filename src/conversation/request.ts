import { arrayOf, field, textField } from "../contract/json.ts";
import type { TurnRequest } from "../contract/turn.ts";
import { type Ask, type PermissionReply, questionOf } from "./runtime-event.ts";

/** What an agent asked a person, as the runtime has it. */
export type RuntimeRequest = Omit<TurnRequest, "answered_by">;

/** Characters of a text, and items of a list. Agents write them. */
const TEXT_MAX = 2_000;
const ITEMS_MAX = 20;

/** What an answer belongs to: a permission request, or the tool call that asks the questions. */
export function requestIdOf(ask: Ask): string {
  return ask.kind === "question" ? (ask.tool?.callId ?? ask.id) : ask.id;
}

export function permissionOf(
  ask: Extract<Ask, { kind: "permission" }>,
  reply: PermissionReply | null,
): RuntimeRequest {
  return {
    request_id: requestIdOf(ask),
    permission: ask.permission.slice(0, TEXT_MAX),
    patterns: ask.patterns.slice(0, ITEMS_MAX).map((pattern) => pattern.slice(0, TEXT_MAX)),
    reply,
    questions: [],
  };
}

/** The questions that a use of a tool asks a person; null if it is another tool, or has not asked yet. */
export function questionsOf(part: unknown): RuntimeRequest | null {
  const state = field(part, "state");
  const questions = field(field(state, "input"), "questions");
  if (textField(part, "tool") !== "question" || !Array.isArray(questions)) return null;
  const answers = arrayOf(field(field(state, "metadata"), "answers"));
  return {
    request_id: textField(part, "callID"),
    permission: null,
    patterns: [],
    reply: null,
    questions: questions.slice(0, ITEMS_MAX).map((value: unknown, at) => {
      const { question, options } = questionOf(value);
      return {
        question: question.slice(0, TEXT_MAX),
        options: options.slice(0, ITEMS_MAX).map(({ label, description }) => ({
          label: label.slice(0, TEXT_MAX),
          description: description.slice(0, TEXT_MAX),
        })),
        answers: arrayOf(answers[at])
          .flatMap((answer) => (typeof answer === "string" ? answer.slice(0, TEXT_MAX) : []))
          .slice(0, ITEMS_MAX),
      };
    }),
  };
}
