import type { AnswerBody, WaitingFor } from "../../src/contract/session.ts";

type Question = WaitingFor["questions"][number];

/** A parsed reply. `answer`: null if there is none. `again`: it is not valid; `hint` describes valid input. */
export type Reply =
  | { is: "answer"; answer: AnswerBody["answer"] }
  /** One of several questions is answered; others are left. */
  | { is: "more" }
  | { is: "again"; hint: string };

const PERMISSION: Readonly<Record<string, "once" | "always" | "reject">> = {
  y: "once",
  yes: "once",
  once: "once",
  a: "always",
  always: "always",
  n: "reject",
  no: "reject",
};

/** Collects the replies to a permission request or to the questions of the agent, one at a time. */
export class AskForm {
  readonly ask: WaitingFor;
  readonly #answers: string[][] = [];

  constructor(ask: WaitingFor) {
    this.ask = ask;
  }

  /** The valid input for the current question. */
  get hint(): string {
    const question = this.#question;
    if (question === undefined) return "y: yes, once · a: always · n: no";
    const { options, multiple, custom } = question;
    const numbers = options.length === 0 ? [] : [multiple ? "numbers, with commas" : "a number"];
    const own = custom ? ["free text"] : [];
    const which = this.ask.questions.length > 1 ? `${this.#answers.length + 1}. ` : "";
    return `${which}answer with ${[...numbers, ...own].join(" or ")} · /skip: no answer`;
  }

  reply(text: string): Reply {
    const input = text.trim();
    const question = this.#question;
    if (question === undefined) {
      const reply = PERMISSION[input.toLowerCase()];
      return reply ? { is: "answer", answer: reply } : { is: "again", hint: "Type y, a or n." };
    }
    if (input === "/skip") return { is: "answer", answer: null };
    const answer = answerOf(question, input);
    if (answer === null) return { is: "again", hint: "Type the number of an answer, or /skip." };
    this.#answers.push(answer);
    return this.#question === undefined ? { is: "answer", answer: this.#answers } : { is: "more" };
  }

  get #question(): Question | undefined {
    return this.ask.questions[this.#answers.length];
  }
}

/** The labels, which may be given by number or by name; null if the input does not answer the question. */
function answerOf({ options, multiple, custom }: Question, input: string): string[] | null {
  if (input === "") return null;
  const words = multiple ? input.split(",").map((word) => word.trim()) : [input];
  const labels = words.map((word) => {
    const byNumber = /^\d{1,3}$/.test(word) ? options[Number(word) - 1] : undefined;
    return (byNumber ?? options.find(({ label }) => label.toLowerCase() === word.toLowerCase()))?.label;
  });
  const found = labels.filter((label) => label !== undefined);
  if (found.length === labels.length) return found;
  return custom || options.length === 0 ? [input] : null;
}
