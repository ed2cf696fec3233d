import { Check, Circle, CircleDot, Ellipsis, LoaderCircle, type LucideIcon, Minus, X } from "lucide-react";

const LOOKS = {
  ok: ["text-ok", Check],
  danger: ["text-danger", X],
  muted: ["text-muted", Circle],
  pending: ["text-muted", Ellipsis],
  now: ["animate-pulse text-accent", CircleDot],
  running: ["text-info", LoaderCircle],
  cancelled: ["text-muted", Minus],
  interrupted: ["text-warn", Minus],
} as const satisfies Record<string, readonly [string, LucideIcon]>;
export type StateLook = keyof typeof LOOKS;

/** The sign of a state, which the text beside it says. */
export function StateIcon({ look }: { look: StateLook }) {
  const [colour, Icon] = LOOKS[look];
  // an open state is a smaller circle
  const size = look === "muted" ? "size-[0.8em] m-[0.1em]" : "size-[1em]";
  return <Icon className={`inline-block shrink-0 align-[-0.125em] ${size} stroke-[2.5] ${colour}`} />;
}
