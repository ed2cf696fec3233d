import { useRef, useState, useSyncExternalStore } from "react";
import { withoutColours } from "../../parts/ansi.ts";
import { Button } from "../../parts/button.tsx";
import { Command } from "../../parts/command.tsx";
import { ScrollBox } from "../../parts/scroll-box.tsx";
import { useStickToEnd } from "../../parts/stick-to-end.ts";
import { Visible } from "../../parts/visible.tsx";
import type { LogStore, ShownLine } from "./log-store.ts";

const LOOKS = {
  svc: "text-info",
  build: "text-warn",
  sandbox: "text-ok",
  run: "text-ok",
  check: "text-ok",
} as const;
/** Longer lines are truncated. */
const LINE_MAX = 4_000;

/** The end of a session's log, updated live. */
export function Log({ log, sessionId }: { log: LogStore; sessionId: string }) {
  const now = useSyncExternalStore(log.subscribe, () => log.lines);
  const [held, setHeld] = useState<readonly ShownLine[] | null>(null);
  const box = useRef<HTMLElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const { isAtEnd, scrollToEnd } = useStickToEnd(list, true, box);
  const lines = held ?? now;
  const behind = held === null ? 0 : now.filter(({ key }) => key > (held.at(-1)?.key ?? -1)).length;
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <Button aria-pressed={held !== null} onClick={() => setHeld(held === null ? now : null)}>
          {held === null ? "Pause" : "Resume"}
        </Button>
        {!isAtEnd && <Button onClick={scrollToEnd}>Scroll to the end</Button>}
        <span role="status" className="text-muted text-sm">
          {held !== null && `Paused${behind > 0 ? `, ${behind} new` : ""}`}
        </span>
      </div>
      <ScrollBox
        ref={box}
        label="Log"
        className="h-[60dvh] rounded-lg border border-line bg-surface p-3 font-mono text-xs leading-5"
      >
        <ol ref={list}>
          {lines.map((line) => (
            <Line key={line.key} line={line} />
          ))}
        </ol>
        {lines.length === 0 && <p className="text-muted">The log is empty.</p>}
      </ScrollBox>
      <Command>{`svc sessions logs ${sessionId} --follow`}</Command>
    </div>
  );
}

export interface LogRow {
  at: string | null;
  source: keyof typeof LOOKS;
  text: string;
}

export function Line({ line: { at, source, text } }: { line: LogRow }) {
  return (
    <li className="flex gap-2">
      <span className="shrink-0 text-muted">{timeOf(at)}</span>
      <span className={`w-14 shrink-0 ${LOOKS[source]}`}>{source}</span>
      <span className="min-w-0 whitespace-pre-wrap">
        <Visible>{withoutColours(text).slice(0, LINE_MAX)}</Visible>
      </span>
    </li>
  );
}

/** The local time; blanks of the same width if there is none. */
function timeOf(at: string | null): string {
  const time = new Date(at ?? "");
  return Number.isNaN(time.getTime()) ? "\u2007".repeat(8) : time.toTimeString().slice(0, 8);
}
