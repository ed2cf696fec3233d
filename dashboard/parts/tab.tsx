import type { ReactNode } from "react";
import { Link } from "wouter";

interface Props {
  to: string;
  isHere: boolean;
  /** Shown next to the label if greater than 0. */
  count?: number;
  children: ReactNode;
}

/** A tab, which is a link to a view. */
export function Tab({ to, isHere, count = 0, children }: Props) {
  return (
    <li>
      <Link
        href={to}
        aria-current={isHere ? "page" : undefined}
        className="flex items-center gap-2 whitespace-nowrap border-transparent border-b-2 px-3 py-2 text-muted no-underline hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
      >
        {children}
        {count > 0 && (
          <span className="rounded-full bg-raised px-2 text-muted text-xs tabular-nums">{count}</span>
        )}
      </Link>
    </li>
  );
}
