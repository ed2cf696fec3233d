import type { UsageRow } from "../../../src/contract/usage.ts";
import { dollars } from "../../parts/cost.ts";
import { ScrollBox } from "../../parts/scroll-box.tsx";
import { Visible } from "../../parts/visible.tsx";

/** The groups of a usage as a table; each has a bar for its part of the largest cost, or of the tokens without prices. */
export function UsageBars({ title, rows }: { title: string; rows: readonly UsageRow[] }) {
  const isPriced = rows.some(({ cost }) => (cost ?? 0) > 0);
  const sizeOf = ({ cost, tokens }: UsageRow) => (isPriced ? (cost ?? 0) : tokens.input + tokens.output);
  const largest = Math.max(...rows.map(sizeOf), Number.MIN_VALUE);
  return (
    <ScrollBox label="Usage" className="rounded-lg border border-line bg-surface">
      <table className="w-full text-sm">
        <thead>
          <tr className="border-line border-b text-left text-muted">
            <th scope="col" className="px-4 py-2 font-medium">
              {title}
            </th>
            <td className="w-2/5 px-2" />
            <Numeric>Cost</Numeric>
            <Numeric>Calls</Numeric>
            <Numeric>Input</Numeric>
            <Numeric>Output</Numeric>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} className="border-line border-b last:border-b-0">
              <th scope="row" className="max-w-64 truncate px-4 py-2 text-left font-normal">
                <Visible>{row.name ?? row.key ?? "Deleted"}</Visible>
              </th>
              <td className="px-2" aria-hidden="true">
                <div
                  className="h-3 min-w-px rounded-sm bg-accent"
                  style={{ width: `${(sizeOf(row) / largest) * 100}%` }}
                />
              </td>
              <Amount>{dollars(row.cost)}</Amount>
              <Amount>{row.calls.toLocaleString("en")}</Amount>
              <Amount>{row.tokens.input.toLocaleString("en")}</Amount>
              <Amount>{row.tokens.output.toLocaleString("en")}</Amount>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function Numeric({ children }: { children: string }) {
  return (
    <th scope="col" className="px-4 py-2 text-right font-medium">
      {children}
    </th>
  );
}

function Amount({ children }: { children: string }) {
  return <td className="whitespace-nowrap px-4 py-2 text-right tabular-nums">{children}</td>;
}
