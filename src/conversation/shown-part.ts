import type { TurnPart, TurnPlan, TurnRequest } from "../contract/turn.ts";

const MARKS = { pending: "[ ]", in_progress: "[ ]", completed: "[x]", cancelled: "[-]" } as const;

/** A plan as a list of tasks in Markdown. */
export function planLines(plan: TurnPlan): string[] {
  return plan.map(({ text, state }) => {
    const note = state === "in_progress" ? " (in progress)" : "";
    return `- ${MARKS[state]} ${text.replace(/\s+/g, " ")}${note}`;
  });
}

type Request = Omit<TurnRequest, "answered_by">;

/** What an agent asked a person: one pair for each question. */
export function askedOf(
  { permission, patterns, reply, questions }: Request,
  state: TurnPart["state"],
): { asked: string; answer: string }[] {
  if (permission !== null)
    return [
      { asked: [`May it use ${permission}?`, ...patterns].join(" "), answer: replyWords(reply, state) },
    ];
  return questions.map(({ question, answers }) => ({
    asked: question,
    answer: answers.length > 0 ? answers.join(", ") : OPEN[state],
  }));
}

function replyWords(reply: Request["reply"], state: TurnPart["state"]): string {
  if (reply === "once") return "Allowed once";
  if (reply === "always") return "Always allowed";
  return reply === "reject" ? "Rejected" : OPEN[state];
}

/** Without an answer that svc has seen. */
const OPEN = {
  running: "Not answered yet",
  done: "Answered",
  failed: "Skipped",
  interrupted: "Not answered",
} as const satisfies Record<TurnPart["state"], string>;
