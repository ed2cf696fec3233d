import type { ComponentProps, ReactNode } from "react";
import { Link } from "wouter";

const BASE =
  "inline-flex min-h-9 items-center justify-center gap-2 rounded-md border px-3 py-1.5 font-medium no-underline transition-colors disabled:opacity-60 aria-disabled:cursor-progress aria-disabled:opacity-60";
const LOOKS = {
  primary: "border-transparent bg-accent text-on-accent hover:bg-accent-strong",
  plain: "border-edge bg-surface text-ink hover:bg-raised",
  quiet: "border-transparent bg-transparent text-ink hover:bg-raised",
  danger: "border-edge bg-surface text-danger hover:border-danger hover:bg-danger-ground",
} as const;
type Look = keyof typeof LOOKS;

interface Props extends ComponentProps<"button"> {
  look?: Look;
  /** Its action is in progress: clicks are ignored. */
  busy?: boolean;
}

export function Button({ look = "plain", busy = false, className = "", type, onClick, ...rest }: Props) {
  return (
    <button
      type={type ?? "button"}
      aria-busy={busy}
      // not `disabled`: the button would lose the focus
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={`${BASE} ${LOOKS[look]} ${className}`}
      {...rest}
    />
  );
}

interface LinkProps {
  to: string;
  look?: Look;
  children: ReactNode;
}

/** A link to another page that looks like a button. */
export function LinkButton({ to, look = "plain", children }: LinkProps) {
  return (
    <Link href={to} className={`${BASE} ${LOOKS[look]}`}>
      {children}
    </Link>
  );
}
