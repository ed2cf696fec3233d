import { numberField, parseJson, textField } from "../../contract/json.ts";
import type { AnswerBody, WaitingFor } from "../../contract/session.ts";
import { askText } from "../../conversation/text.ts";
import type { Blocks } from "./slack/client.ts";
import { escapeText, link, plainText } from "./slack/mrkdwn.ts";

/** The buttons of an ask: their action ids are `svc_answer_<n>`, since they must differ within a message. */
export const ANSWER_ACTION = /^svc_answer_\d{1,2}$/;

/** Slack: Block Kit. */
const SECTION_MAX = 2_500;
const LABEL_MAX = 75;
/** Options with buttons; a question with more is answered on the page. */
const OPTIONS_MAX = 20;
const PERMISSION = ["Allow once", "Reject"];

type Asked = Pick<WaitingFor, "kind" | "questions">;

/** The labels of the buttons of an ask; null if it can be answered only on the page of the session. */
export function askOptions(ask: Asked): string[] | null {
  if (ask.kind === "permission") return PERMISSION;
  const [question, second] = ask.questions;
  if (!question || second || question.multiple || question.options.length > OPTIONS_MAX) return null;
  return question.options.map(({ label }) => label);
}

/** The answer that the n-th button is; null: there is none. */
export function answerOf(ask: Asked, option: number): AnswerBody["answer"] {
  const label = askOptions(ask)?.[option];
  if (label === undefined) return null;
  if (ask.kind === "permission") return option === 0 ? "once" : "reject";
  return [[label]];
}

/** An ask of the agent as a message. @param page the session's */
export function askMessage(ask: WaitingFor, page: string): { text: string; blocks: Blocks } {
  const options = askOptions(ask);
  const what = ask.kind === "permission" ? "The agent asks for permission" : "The agent asks";
  const isCustom = ask.kind === "question" && options !== null && ask.questions[0]?.custom === true;
  const hint =
    options === null ? `\n${link(page, "Answer on its page")}` : isCustom ? "\nOr reply in this thread." : "";
  const text = `*${what}:* ${escapeText(askText(ask), SECTION_MAX)}${hint}`;
  const section = { type: "section" as const, text: { type: "mrkdwn" as const, text } };
  if (options === null || options.length === 0) return { text, blocks: [section] };
  const elements = options.map((label, option) => ({
    type: "button" as const,
    action_id: `svc_answer_${option}`,
    text: { type: "plain_text" as const, text: plainText(label, LABEL_MAX), emoji: false },
    value: JSON.stringify({ ask: ask.request_id, option }),
  }));
  return { text, blocks: [section, { type: "actions", elements }] };
}

/** The value of a button of an ask; null if it is not one. */
export function readAnswer(value: string): { ask: string; option: number } | null {
  const parsed = parseJson(value);
  const option = numberField(parsed, "option");
  const ask = textField(parsed, "ask");
  return ask === "" || option === null ? null : { ask, option };
}
