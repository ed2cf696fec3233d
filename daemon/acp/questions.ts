import { randomBytes } from "node:crypto";
import { textField } from "../../src/contract/json.ts";
import type { Answer } from "./answer.ts";
import type { Conversation } from "./conversation.ts";
import { contentOfForm, type Question, readForm } from "./form.ts";

/** Questions that the agent waits on, in the format of the runtime's `GET /question`. */
interface QuestionRequest {
  id: string;
  sessionID: string;
  questions: Question[];
  /** The use of a tool that stands for it in the conversation. */
  tool: { messageID: string; callID: string };
}

/** The answers to each question; null: the person does not answer. */
type Answers = string[][] | null;

/** What an agent gets for a form (Agent Client Protocol 1, Elicitation). */
export type FormResponse =
  | { action: "accept"; content: Record<string, unknown> }
  | { action: "decline" }
  | { action: "cancel" };

const REQUESTS_MAX = 20;

/** The questions of an agent to a person: forms of the protocol, shown as the runtime's own agents ask. */
export class Questions {
  readonly #conversation: Conversation;
  readonly #open = new Map<string, { request: QuestionRequest; settle(answers: Answers | "cancel"): void }>();

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  get requests(): QuestionRequest[] {
    return [...this.#open.values()].map(({ request }) => request);
  }

  /** Waits for a person to answer a form. @param answer to the prompt, of which it is a part; null: none is under way */
  async ask(params: unknown, answer: Answer | null, signal: AbortSignal): Promise<FormResponse> {
    const form = readForm(params);
    const sessionID = this.#conversation.session?.id;
    if (!answer || sessionID === undefined || this.#open.size >= REQUESTS_MAX) return { action: "cancel" };
    // an agent that asks on a page of its own was not told that svc shows such pages
    if (textField(params, "mode") === "url") return { action: "decline" };
    const questions =
      form.length > 0 ? form.map(({ question }) => question) : [confirmation(textField(params, "message"))];
    const id = `que_${randomBytes(12).toString("hex")}`;
    const request = { id, sessionID, questions, tool: { messageID: answer.messageId, callID: id } };
    const { promise, resolve } = Promise.withResolvers<Answers | "cancel">();
    this.#open.set(id, { request, settle: resolve });
    signal.addEventListener("abort", () => resolve("cancel"), { once: true });
    answer.ask(id, questions);
    this.#conversation.emit("question.asked", { ...request });
    const answers = await promise.finally(() => this.#open.delete(id));
    const given = answers === "cancel" ? null : answers;
    answer.answered(id, given);
    const type = given === null ? "question.rejected" : "question.replied";
    this.#conversation.emit(type, { sessionID, requestID: id, ...(given && { answers: given }) });
    if (answers === "cancel") return { action: "cancel" };
    if (given === null || (form.length === 0 && given[0]?.[0] !== CONFIRM)) return { action: "decline" };
    return { action: "accept", content: contentOfForm(form, given) };
  }

  /** @returns false if no such request is open */
  reply(id: string, answers: Answers): boolean {
    const open = this.#open.get(id);
    open?.settle(answers);
    return open !== undefined;
  }

  /** Ends all requests: their run is over. */
  cancel(): void {
    for (const { settle } of this.#open.values()) settle("cancel");
  }
}

const CONFIRM = "Accept";

function confirmation(question: string): Question {
  const options = [CONFIRM, "Decline"].map((label) => ({ label, description: "" }));
  return { question, options, multiple: false, custom: false };
}
