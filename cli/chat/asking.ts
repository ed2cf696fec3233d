import type { Ask, Question } from "../../src/conversation/events.ts";

/** What a person's words mean for what is asked; `again` says what to type instead. */
export type Reply =
  | { is: "permission"; reply: "once" | "always" | "reject" }
  | { is: "answers"; answers: string[][] }
  | { is: "refusal" }
  /** One of several questions is answered, others are left. */
  | { is: "more" }
  | { is: "again"; words: string };

const PERMISSION: Readonly<Record<string, "once" | "always" | "reject">> = {
  y: "once",
  yes: "once",
  once: "once",
  a: "always",
  always: "always",
  n: "reject",
  no: "reject",
};

/** Something that is asked of a person, in as many steps as it has questions. */
export class Asking {
  readonly ask: Ask;
  readonly #answers: string[][] = [];

  constructor(ask: Ask) {
    this.ask = ask;
  }

  /** What to type now. */
  get hint(): string {
    const question = this.#question;
    if (question === undefined) return "y: yes, once · a: always · n: no";
    const { options, multiple, custom } = question;
    const numbers = options.length === 0 ? [] : [multiple ? "numbers, with commas" : "a number"];
    const own = custom ? ["own words"] : [];
    const which =
      this.ask.kind === "question" && this.ask.questions.length > 1 ? `${this.#answers.length + 1}. ` : "";
    return `${which}answer with ${[...numbers, ...own].join(" or ")} · /skip: no answer`;
  }

  reply(words: string): Reply {
    const said = words.trim();
    const question = this.#question;
    if (question === undefined) {
      const reply = PERMISSION[said.toLowerCase()];
      return reply ? { is: "permission", reply } : { is: "again", words: "Type y, a or n." };
    }
    if (said === "/skip") return { is: "refusal" };
    const answer = answerOf(question, said);
    if (answer === null) return { is: "again", words: "Type the number of an answer, or /skip." };
    this.#answers.push(answer);
    return this.#question === undefined ? { is: "answers", answers: this.#answers } : { is: "more" };
  }

  get #question(): Question | undefined {
    return this.ask.kind === "question" ? this.ask.questions[this.#answers.length] : undefined;
  }
}

/** Labels by number or by name; null for what is no answer to this question. */
function answerOf({ options, multiple, custom }: Question, said: string): string[] | null {
  if (said === "") return null;
  const words = multiple ? said.split(",").map((word) => word.trim()) : [said];
  const labels = words.map((word) => {
    const byNumber = /^\d{1,3}$/.test(word) ? options[Number(word) - 1] : undefined;
    return (byNumber ?? options.find(({ label }) => label.toLowerCase() === word.toLowerCase()))?.label;
  });
  const found = labels.filter((label) => label !== undefined);
  if (found.length === labels.length) return found;
  return custom || options.length === 0 ? [said] : null;
}
