import type { TurnPart, TurnPlan, TurnRequest } from "../../../../src/contract/turn.ts";
import { askedOf } from "../../../../src/conversation/shown-part.ts";
import { AuthorName } from "../../../parts/author-name.tsx";
import { StateIcon } from "../../../parts/state-icon.tsx";
import { Visible } from "../../../parts/visible.tsx";

/** What the agent asked a person, with the answer. */
export function AnsweredRequest({ request, state }: { request: TurnRequest; state: TurnPart["state"] }) {
  return (
    <section
      aria-label="Question from the agent"
      className="flex flex-col gap-2 rounded-md border border-line bg-surface px-3 py-2 text-sm"
    >
      {askedOf(request, state).map(({ asked, answer }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: questions have no id and a fixed order
        <div key={at}>
          <p className="whitespace-pre-wrap">
            <Visible>{asked}</Visible>
          </p>
          <p className="whitespace-pre-wrap text-muted">
            <Visible>{answer}</Visible>
            {request.answered_by && (
              <>
                {" "}
                by <AuthorName author={request.answered_by} />
              </>
            )}
          </p>
        </div>
      ))}
    </section>
  );
}

const MARKS = {
  pending: ["muted", "open"],
  in_progress: ["running", "in progress"],
  completed: ["ok", "done"],
  cancelled: ["cancelled", "cancelled"],
} as const;

/** The agent's plan, as it was at this point. */
export function Plan({ plan }: { plan: TurnPlan }) {
  return (
    <section aria-label="Plan" className="rounded-md border border-line bg-surface px-3 py-2 text-sm">
      <ul className="flex flex-col gap-1">
        {plan.map(({ text, state }, at) => {
          const [look, words] = MARKS[state];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no id
            <li key={at} className="flex gap-2">
              <span className="shrink-0">
                <StateIcon look={look} />
                <span className="sr-only">{words}</span>
              </span>
              <span className={state === "cancelled" ? "line-through" : ""}>
                <Visible>{text}</Visible>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
