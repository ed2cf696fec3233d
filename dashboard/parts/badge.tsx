import type { ReactNode } from "react";

const LOOKS = {
  neutral: "bg-raised text-muted",
  ok: "bg-ok-ground text-ok",
  info: "bg-info-ground text-info",
  warn: "bg-warn-ground text-warn",
  danger: "bg-danger-ground text-danger",
  done: "bg-done-ground text-done",
} as const;
export type BadgeLook = keyof typeof LOOKS;

/** A state in one word. The colour repeats what the word says. */
export function Badge({ look, children }: { look: BadgeLook; children: ReactNode }) {
  return (
    <span
      className={`inline-flex shrink-0 items-center rounded-full px-2 py-0.5 font-medium text-xs ${LOOKS[look]}`}
    >
      {children}
    </span>
  );
}
