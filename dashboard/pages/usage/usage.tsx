import { useSearch } from "wouter";
import type { Usage as UsageType } from "../../../src/contract/usage.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { LinkButton } from "../../parts/button.tsx";
import { dollars } from "../../parts/cost.ts";
import { count } from "../../parts/count.ts";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Tab } from "../../parts/tab.tsx";
import { UsageBars } from "./usage-bars.tsx";

/** What the usage can be grouped by: the query parameter `by`. */
const GROUPS = [
  ["day", "Day"],
  ["project", "Project"],
  ["user", "Person"],
  ["model", "Model"],
] as const;
/** Lengths of time: the query parameter `days`. */
const SPANS = [7, 30, 90] as const;
const DEFAULT_DAYS = 30;
const DAY_MS = 24 * 60 * 60_000;

/** What the models have cost an account, by day, project, person or model. */
export function Usage({ accountId }: { accountId: string }) {
  const query = new URLSearchParams(useSearch());
  const [group, title] = GROUPS.find(([name]) => name === query.get("by")) ?? GROUPS[0];
  const days = SPANS.find((each) => String(each) === query.get("days")) ?? DEFAULT_DAYS;
  const here = path`/accounts/${accountId}/usage`;
  return (
    <Page
      title="Model usage"
      actions={<LinkButton to={path`/accounts/${accountId}`}>The account</LinkButton>}
    >
      <div className="max-w-5xl">
        <div className="mb-4 flex flex-wrap justify-between gap-x-6 border-line border-b">
          <nav aria-label="Grouped by">
            <ul className="flex gap-1 overflow-x-auto">
              {GROUPS.map(([name, label]) => (
                <Tab key={name} to={`${here}?by=${name}&days=${days}`} isHere={name === group}>
                  {label}
                </Tab>
              ))}
            </ul>
          </nav>
          <nav aria-label="Time">
            <ul className="flex gap-1 overflow-x-auto">
              {SPANS.map((each) => (
                <Tab key={each} to={`${here}?by=${group}&days=${each}`} isHere={each === days}>
                  {each} days
                </Tab>
              ))}
            </ul>
          </nav>
        </div>
        <Shown accountId={accountId} group={group} title={title} days={days} />
      </div>
    </Page>
  );
}

interface ShownProps {
  accountId: string;
  group: (typeof GROUPS)[number][0];
  title: string;
  days: number;
}

function Shown({ accountId, group, title, days }: ShownProps) {
  // whole days, in which the server groups them
  const since = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - (days - 1) * DAY_MS).toISOString();
  const { data, error, refetch } = useGet<UsageType>(
    ["accounts", accountId, "usage", group, days],
    `${path`/accounts/${accountId}/usage`}?group_by=${group}&since=${encodeURIComponent(since)}`,
  );
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="Loading the usage" />;
  const { total, usage, truncated } = data;
  if (total.calls === 0) {
    return (
      <Empty title="No model calls in this period">
        Calls through svc's model gateway are measured. Other keys of a project are not.
      </Empty>
    );
  }
  return (
    <>
      <Totals total={total} />
      <UsageBars title={title} rows={usage} />
      {truncated && <p className="mt-3 text-muted text-sm">Only the first {usage.length} are listed.</p>}
    </>
  );
}

function Totals({ total }: { total: UsageType["total"] }) {
  const { calls, incomplete, unpriced, cost, tokens } = total;
  const number = (value: number) => value.toLocaleString("en");
  return (
    <p className="mb-4 text-muted">
      <span className="font-semibold text-2xl text-ink tabular-nums">{dollars(cost)}</span>{" "}
      {`in ${count(calls, "call")}, for ${number(tokens.input)} tokens of input (${number(tokens.cached)} cached) and ${number(tokens.output)} of output.`}
      {incomplete > 0 && ` ${count(incomplete, "call")} ended early: their cost is an estimate.`}
      {unpriced > 0 && ` The cost does not include ${count(unpriced, "call")} to models without prices.`}
    </p>
  );
}
