import { arrayOf, field, textField } from "../contract/json.ts";
import type { TurnPlan } from "../contract/turn.ts";

/** Steps of a plan, and characters of one: agents write them. */
const STEPS_MAX = 100;
const TEXT_MAX = 500;

/** The plan that a use of a tool writes; null if it is another tool, or has not written one yet. */
export function planOf(tool: string, input: unknown): TurnPlan | null {
  const steps = field(input, "todos");
  if (tool !== "todowrite" || !Array.isArray(steps)) return null;
  return arrayOf(steps)
    .slice(0, STEPS_MAX)
    .map((step) => ({ text: textField(step, "content").slice(0, TEXT_MAX), state: stateOf(step) }));
}

function stateOf(step: unknown): TurnPlan[number]["state"] {
  const state = textField(step, "status");
  return state === "in_progress" || state === "completed" || state === "cancelled" ? state : "pending";
}
