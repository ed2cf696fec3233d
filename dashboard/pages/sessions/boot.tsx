import { useSyncExternalStore } from "react";
import type { BootStep, Session } from "../../../src/contract/session.ts";
import { withoutColours } from "../../parts/ansi.ts";
import { Button } from "../../parts/button.tsx";
import { StateIcon, type StateLook } from "../../parts/state-icon.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Line } from "./log.tsx";
import type { LogStore } from "./log-store.ts";
import { isStarting, STEPS } from "./words.ts";

/** Log lines shown with a failure. */
const TAIL = 20;
const NAMES = Object.keys(STEPS).filter((name): name is BootStep => name in STEPS);

interface Props {
  session: Session;
  log: LogStore;
  onRestart: () => void;
}

/** The progress of a session's start. If it failed: the step, the reason and the end of the log. */
export function Boot({ session, log, onRestart }: Props) {
  const lines = useSyncExternalStore(log.subscribe, () => log.lines);
  const hasFailed = session.status === "failed";
  if (!hasFailed && !isStarting(session)) return null;
  const at = session.step === null ? (hasFailed ? NAMES.length : -1) : NAMES.indexOf(session.step);
  const last = lines.at(-1);
  return (
    <section
      aria-label={hasFailed ? "Failure" : "Progress"}
      className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4"
    >
      {!hasFailed && at < 0 && <p className="text-muted">Queued.</p>}
      {at >= 0 && !(hasFailed && session.step === null) && (
        <ol className="flex flex-col gap-1.5">
          {NAMES.map((name, index) =>
            // most starts do not wait
            name === "waiting" && index !== at ? null : (
              <Step key={name} name={name} state={stateOf(index, at, hasFailed)} />
            ),
          )}
        </ol>
      )}
      {!hasFailed && session.blocked_on && (
        <p role="status" className="text-sm wrap-anywhere">
          <Visible>{session.blocked_on.message}</Visible>
        </p>
      )}
      {!hasFailed && last && (
        <p className="truncate font-mono text-muted text-xs">
          <Visible>{withoutColours(last.text)}</Visible>
        </p>
      )}
      {hasFailed && (
        <>
          <p role="alert" className="text-danger wrap-anywhere">
            <Visible>{session.error ?? "Unknown reason."}</Visible>
          </p>
          {lines.length > 0 && (
            <ol
              aria-label="End of the log"
              className="overflow-x-auto rounded-md bg-raised p-3 font-mono text-xs leading-5"
            >
              {lines.slice(-TAIL).map((line) => (
                <Line key={line.key} line={line} />
              ))}
            </ol>
          )}
          <div>
            <Button look="primary" onClick={onRestart}>
              Start it again
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

type StepState = "done" | "now" | "failed" | "later";

function stateOf(index: number, at: number, hasFailed: boolean): StepState {
  if (index < at) return "done";
  return index > at ? "later" : hasFailed ? "failed" : "now";
}

const MARKS: Readonly<Record<StepState, readonly [look: StateLook, label: string]>> = {
  done: ["ok", "done"],
  now: ["now", "in progress"],
  failed: ["danger", "failed"],
  later: ["muted", "pending"],
};

function Step({ name, state }: { name: BootStep; state: StepState }) {
  const [look, label] = MARKS[state];
  const [title, does] = STEPS[name];
  return (
    <li aria-current={state === "now" ? "step" : undefined} className="flex items-baseline gap-3">
      <StateIcon look={look} />
      <span className={state === "later" ? "text-muted" : "font-medium"}>{title}</span>
      <span className="sr-only">{label}</span>
      {(state === "now" || state === "failed") && <span className="text-muted text-sm">{does}</span>}
    </li>
  );
}
