import { Link } from "wouter";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Badge } from "../../parts/badge.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { useStack, type Where } from "./queries.ts";

const AND = new Intl.ListFormat("en");

/** The open change requests that this one is based on, and those based on it, the highest first; nothing without any. */
export function Stack({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const { slug } = useProject();
  const { data, error } = useStack(where);
  if (error) return <Failure error={error} />;
  const stack = data?.stack ?? [];
  if (stack.length === 0) return null;
  const next = stack.filter(({ level }) => level === 1).map(({ number }) => `#${number}`);
  return (
    <section aria-label="Stack" className="rounded-lg border border-line bg-surface px-4 py-3 text-sm">
      <h2 className="font-medium">Stack</h2>
      <ol className="mt-2 flex flex-col gap-1">
        {stack.toReversed().map(({ number, title, draft, level }) => (
          <li
            key={number}
            aria-current={level === 0 ? "true" : undefined}
            className={`wrap-anywhere flex flex-wrap items-center gap-x-1.5 ${level === 0 ? "font-medium" : ""}`}
            style={{ paddingInlineStart: `${Math.min(Math.max(level, 0), 6) * 0.75}rem` }}
          >
            {level === 0 ? (
              <Visible>{title}</Visible>
            ) : (
              <Link
                href={path`/projects/${slug}/change-requests/${number}`}
                className="text-accent underline"
              >
                <Visible>{title}</Visible>
              </Link>
            )}
            <span className="text-muted">#{number}</span>
            {draft && <Badge look="info">Draft</Badge>}
          </li>
        ))}
      </ol>
      {next.length > 0 && (
        <p className="mt-2 text-muted">
          When this is merged, the base of {AND.format(next)} becomes <Visible>{cr.base_ref}</Visible>.
        </p>
      )}
    </section>
  );
}
