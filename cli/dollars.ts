import { usage } from "./failure.ts";

/** An amount in US dollars; null for `none`. @throws CliError `usage` that names the flag */
function dollars(flag: string, text: string): number | null {
  if (text === "none") return null;
  if (/^\d{1,9}(?:\.\d{1,6})?$/.test(text)) return Number(text);
  throw usage(`--${flag} must be an amount in US dollars, such as 50 or 0.5, or none.`);
}

/** The budgets that the flags `--budget` and `--session-budget` set. */
export function budgetsOf(flags: { budget: string | undefined; "session-budget": string | undefined }): {
  model_budget?: number | null;
  model_session_budget?: number | null;
} {
  const { budget, "session-budget": ofSession } = flags;
  return {
    ...(budget !== undefined && { model_budget: dollars("budget", budget) }),
    ...(ofSession !== undefined && { model_session_budget: dollars("session-budget", ofSession) }),
  };
}

/** The lines of a sheet about budgets. */
export function budgetLines(of: {
  model_budget: number | null;
  model_session_budget: number | null;
}): [string, string | null][] {
  return [
    ["budget", limitText(of.model_budget, "a month")],
    ["session budget", limitText(of.model_session_budget, "a session")],
  ];
}

const limitText = (limit: number | null, per: string): string | null =>
  limit === null ? null : `${limit} US dollars ${per}`;
