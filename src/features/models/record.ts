import { randomUUID } from "node:crypto";
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { modelCalls } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { TokensUsed } from "../../contract/usage.ts";
import type { Deps } from "../../deps.ts";
import { createBatches } from "../../lib/batch.ts";
import { unknownKey } from "./key.ts";
import { addToTotals, monthOf } from "./totals.ts";

/** A call that is about to be sent. */
export interface CallBegin {
  /** The hash of the key. */
  hash: string;
  model: string;
  /** The cost of its prompt, which counts until the call ends; null without prices. */
  estimate: number | null;
}

/** What is known of a call at its end. */
export interface CallEnd {
  state: "complete" | "incomplete";
  upstream: string | null;
  status: number | null;
  tokens: TokensUsed;
  /** US dollars; null if unknown. */
  cost: number | null;
}

/** The record of calls. Those that begin or end at the same time share a statement, and no statement waits for a call. */
export interface Recorder {
  /**
   * Records that a call begins, before anything is sent: so it is counted even if the server is killed. The key and the
   * budgets are checked in the same statement; calls in progress count with their estimates.
   * @returns the call's id
   * @throws unauthorized for a key that has been revoked a moment ago; budget_exceeded
   */
  begin(call: CallBegin): Promise<string>;
  /** Records what a call in progress has used so far, in case that the server is killed. */
  note(callId: string, tokens: TokensUsed): Promise<void>;
  /** Records the end of a call, and adds it to the totals. Once it has ended, nothing changes. */
  end(callId: string, end: CallEnd): Promise<void>;
}

/** More calls than a server may have in progress end at once only when it stops. */
const BATCH_MAX = 256;

export function createRecorder(deps: Deps): Recorder {
  const begin = createBatches(BATCH_MAX, (calls: readonly Begun[]) => beginAll(deps, calls));
  const note = createBatches(BATCH_MAX, (calls: readonly Noted[]) => noteAll(deps, calls));
  const end = createBatches(BATCH_MAX, (calls: readonly Ended[]) => endAll(deps, calls));
  return {
    async begin(call) {
      const callId = randomUUID();
      requireBudget(await begin({ call_id: callId, ...call }));
      return callId;
    },
    note: async (callId, tokens) => void (await note({ call_id: callId, ...tokens })),
    async end(callId, { tokens, ...rest }) {
      await end({ call_id: callId, ...tokens, ...rest });
    },
  };
}

type Begun = CallBegin & { call_id: string };
type Noted = TokensUsed & { call_id: string };
type Ended = Noted & Omit<CallEnd, "tokens">;

/** The budget that a call would exceed; `scope` is empty if there is none, and the answer null for an unknown key. */
type Verdict = { scope: string; budget: number | null } | { scope: null };

const BUDGETS: Readonly<Record<string, string>> = {
  account: "The account's budget for models this month",
  project: "The project's budget for models this month",
  session: "The session's budget for models",
};

function requireBudget(verdict: Verdict): void {
  if (verdict.scope === null) throw unknownKey();
  const what = BUDGETS[verdict.scope];
  if (what === undefined) return;
  throw new SvcError(
    "budget_exceeded",
    `${what} ($${verdict.budget}) is used up. An owner or admin of the account can raise it.`,
  );
}

async function beginAll(deps: Deps, calls: readonly Begun[]): Promise<Verdict[]> {
  const now = deps.clock();
  const rows = await beginning(deps.db).execute({
    calls: JSON.stringify(calls),
    server: deps.serverId,
    now: now.toISOString(),
    month: monthOf(now),
  });
  const verdicts = new Map(rows.map(({ callId, scope, budget }) => [callId, { scope, budget }]));
  return calls.map(({ call_id }) => verdicts.get(call_id) ?? { scope: null });
}

/** Calls of one statement do not count for each other: they are in progress at the same time. */
const beginning = prepared((db: Db) => {
  const month = sql`${sql.placeholder("month")}::text`;
  const spent = (scope: string, period: SQL, open: string) =>
    sql`coalesce((select cost from model_spend where scope = ${sql.raw(scope)}::text and period = ${period}), 0)
      + coalesce((select sum(cost) from model_calls c where c.account_id = k.account_id and c.state = 'open'
          and ${sql.raw(open)}), 0)`;
  const session = sql`least(a.model_session_budget, p.model_session_budget)`;
  const wanted = sql`json_to_recordset(${sql.placeholder("calls")}::json)
    as w(call_id uuid, hash text, model text, estimate float8)`;
  const checked = db
    .$with("checked", {
      callId: sql<string>`call_id`.as("call_id"),
      scope: sql<string>`scope`.as("scope"),
      budget: sql<number | null>`budget`.as("budget"),
    })
    .as(sql`
      select v.*, case scope when 'account' then account when 'project' then project else session end as budget
      from (
        select w.call_id, w.model, w.estimate, k.account_id, k.project_id, k.session_id, k.user_id,
          a.model_budget as account, p.model_budget as project, ${session} as session,
          case
            when a.model_budget is not null
              and a.model_budget <= ${spent("k.account_id", month, "true")} then 'account'
            when p.model_budget is not null
              and p.model_budget <= ${spent("k.project_id", month, "c.project_id = k.project_id")} then 'project'
            when ${session} is not null
              and ${session} <= ${spent("k.session_id", sql`''`, "c.session_id = k.session_id")} then 'session'
            else ''
          end as scope
        from ${wanted}
        join model_keys k on k.hash = w.hash
        join accounts a on a.account_id = k.account_id
        join projects p on p.project_id = k.project_id
        join account_members m on m.account_id = k.account_id and m.user_id = k.user_id
      ) v`);
  const begun = db.$with("begun", {}).as(sql`
    insert into model_calls (call_id, account_id, project_id, session_id, user_id, server_id, model, cost, started_at)
    select call_id, account_id, project_id, session_id, user_id, ${sql.placeholder("server")}, model, estimate,
      ${sql.placeholder("now")}::timestamptz
    from checked where scope = ''`);
  return db
    .with(checked, begun)
    .select({ callId: checked.callId, scope: checked.scope, budget: checked.budget })
    .from(checked)
    .prepare("model_calls_begin");
});

async function noteAll({ db }: Deps, calls: readonly Noted[]): Promise<readonly Noted[]> {
  await db.execute(sql`
    update ${modelCalls} as c set input = n.input, output = n.output, cached = n.cached
    from json_to_recordset(${JSON.stringify(calls)}::json) as n(call_id uuid, input bigint, output bigint, cached bigint)
    where c.call_id = n.call_id and c.state = 'open'`);
  return calls;
}

async function endAll({ db, clock }: Deps, calls: readonly Ended[]): Promise<readonly Ended[]> {
  await ending(db).execute({ calls: JSON.stringify(calls), now: clock().toISOString() });
  return calls;
}

const ending = prepared((db: Db) =>
  addToTotals(
    db,
    sql`update model_calls as c
      set state = e.state::model_call_state, upstream = e.upstream, status = e.status, input = e.input,
        output = e.output, cached = e.cached, cost = e.cost, ended_at = ${sql.placeholder("now")}::timestamptz
      from json_to_recordset(${sql.placeholder("calls")}::json) as e(call_id uuid, state text, upstream text, status int,
        input bigint, output bigint, cached bigint, cost float8)
      where c.call_id = e.call_id and c.state = 'open'
      returning c.*`,
  ).prepare("model_calls_end"),
);
