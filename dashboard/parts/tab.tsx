import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";

interface Props {
  to: string;
  isHere: boolean;
  icon?: LucideIcon;
  /** Shown next to the label if greater than 0. */
  count?: number;
  children: ReactNode;
}

/** A tab, which is a link to a view. */
export function Tab({ to, isHere, icon: Icon, count = 0, children }: Props) {
  return (
    <li>
      <Link
        href={to}
        aria-current={isHere ? "page" : undefined}
        className="flex items-center gap-2 whitespace-nowrap border-transparent border-b-2 px-3 py-2 text-muted no-underline hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
      >
        {Icon && <Icon className="size-4 shrink-0 max-sm:hidden" />}
        {children}
        {count > 0 && (
          <span className="rounded-full bg-raised px-2 text-muted text-xs tabular-nums">{count}</span>
        )}
      </Link>
    </li>
  );
}
