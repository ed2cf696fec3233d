import { and, eq, or, sql } from "drizzle-orm";
import { modelCalls, modelSpend } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { KeyHolder } from "./key.ts";
import { monthOf } from "./record.ts";

/**
 * Checks the budgets of a session before a call. Calls in progress count with their estimates.
 * @throws budget_exceeded
 */
export async function requireBudget(deps: Deps, holder: KeyHolder): Promise<void> {
  const { budgets, accountId, projectId, sessionId } = holder;
  const { account, project, session } = budgets;
  if (account === null && project === null && session === null) return;
  const month = monthOf(deps.clock());
  const isMonth = eq(modelSpend.period, month);
  const rows = await deps.db
    .select({ scope: modelSpend.scope, cost: modelSpend.cost })
    .from(modelSpend)
    .where(
      or(
        and(eq(modelSpend.scope, accountId), isMonth),
        and(eq(modelSpend.scope, projectId), isMonth),
        and(eq(modelSpend.scope, sessionId), eq(modelSpend.period, "")),
      ),
    );
  const cost = modelCalls.cost;
  const sum = (condition: ReturnType<typeof eq>) =>
    sql<number>`coalesce(sum(${cost}) filter (where ${condition}), 0)`.mapWith(Number);
  const [open] = await deps.db
    .select({
      account: sql<number>`coalesce(sum(${cost}), 0)`.mapWith(Number),
      project: sum(eq(modelCalls.projectId, projectId)),
      session: sum(eq(modelCalls.sessionId, sessionId)),
    })
    .from(modelCalls)
    .where(and(eq(modelCalls.accountId, accountId), eq(modelCalls.state, "open")));
  const spent = (scope: string, running = 0) =>
    (rows.find((row) => row.scope === scope)?.cost ?? 0) + running;
  refuse(account, spent(accountId, open?.account), "The account's budget for models this month");
  refuse(project, spent(projectId, open?.project), "The project's budget for models this month");
  refuse(session, spent(sessionId, open?.session), "The session's budget for models");
}

function refuse(budget: number | null, spent: number, what: string): void {
  if (budget === null || spent < budget) return;
  throw new SvcError(
    "budget_exceeded",
    `${what} ($${budget}) is used up. An owner or admin of the account can raise it.`,
  );
}
