import { useEffect, useRef, useState } from "react";
import type { Session } from "../../../../src/contract/session.ts";
import { path } from "../../../api/path.ts";
import { Button } from "../../../parts/button.tsx";
import { Command } from "../../../parts/command.tsx";
import { Empty } from "../../../parts/empty.tsx";
import { Kbd } from "../../../parts/kbd.tsx";
import { Failure, Notice } from "../../../parts/notice.tsx";
import { openShell, type ShellState } from "./shell.ts";

/** A shell in the session's sandbox. */
export function Terminal({ session }: { session: Session }) {
  const [count, setCount] = useState(0);
  if (session.status !== "running" && count === 0)
    return (
      <Empty title="No sandbox">The session does not run, so there is nothing to open a shell in.</Empty>
    );
  return <Shell key={count} session={session} onAgain={() => setCount(count + 1)} />;
}

function Shell({ session, onAgain }: { session: Session; onAgain: () => void }) {
  const screen = useRef<HTMLElement>(null);
  const way = useRef<HTMLParagraphElement>(null);
  const [state, setState] = useState<ShellState>({ kind: "starting" });
  const own = path`/projects/${session.project_id}/sessions/${session.session_id}`;
  useEffect(() => {
    if (!screen.current) return;
    return openShell(screen.current, { own, leave: () => way.current?.focus(), onState: setState });
  }, [own]);
  const isOver = state.kind === "ended" || state.kind === "failed";
  return (
    <div className="flex flex-col gap-3">
      {state.kind === "failed" && <Failure error={state.error} retry={onAgain} />}
      {state.kind === "lost" && (
        <Notice kind="warning">The connection was lost. Reconnecting; the shell keeps running.</Notice>
      )}
      {state.kind === "ended" && (
        <div className="flex flex-wrap items-center gap-3">
          <span role="status">{endOf(state)}</span>
          <Button onClick={onAgain}>New shell</Button>
        </div>
      )}
      {/* the page's keys are not for what is typed here */}
      <section
        ref={screen}
        aria-label="Terminal"
        onKeyDown={(event) => event.stopPropagation()}
        className={`h-[60dvh] overflow-hidden rounded-lg border border-line bg-surface p-2 font-mono text-ink ${isOver ? "opacity-60" : ""}`}
      />
      <p ref={way} tabIndex={-1} className="text-muted text-sm">
        <Kbd>Shift Esc</Kbd> moves the focus out of the terminal. svc records who opens a shell.
      </p>
      <Command>{`svc sessions shell ${session.session_id}`}</Command>
    </div>
  );
}

function endOf({ exit: { code, signal } }: Extract<ShellState, { kind: "ended" }>): string {
  if (signal !== null) return `The shell was ended by ${signal}.`;
  return code === 0 || code === null
    ? "The shell has ended."
    : `The shell has ended with exit status ${code}.`;
}
