import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Attachment } from "../../../../src/contract/attachment.ts";
import type { Session } from "../../../../src/contract/session.ts";
import type { Turn } from "../../../../src/contract/turn.ts";
import { messageOf } from "../../../api/failure.ts";
import { Button } from "../../../parts/button.tsx";
import { Failure, Notice } from "../../../parts/notice.tsx";
import { useStickToEnd } from "../../../parts/stick-to-end.ts";
import { Visible } from "../../../parts/visible.tsx";
import { Choices } from "../choices.tsx";
import { usePrompts } from "../prompts.ts";
import { Queue } from "../queue.tsx";
import { isBusy, isStarting } from "../words.ts";
import { Asked } from "./ask.tsx";
import type { Chat, ChatState } from "./chat.ts";
import { Composer } from "./composer.tsx";
import { Opened } from "./folded.tsx";
import { Prompt } from "./item.tsx";
import { Rows } from "./rows.tsx";
import { Shown } from "./tool.tsx";
import { createItems } from "./turn.ts";

interface Props {
  session: Session;
  chat: Chat;
  state: ChatState;
}

/** The conversation with the agent, and the field for the next prompt. */
export function Conversation({ session, chat, state }: Props) {
  const grows = useRef<HTMLElement>(null);
  const [error, setError] = useState<unknown>(null);
  const [toItems] = useState(createItems);
  const [opened] = useState(() => new Set<string>());
  const { turns, hasEarlier } = state;
  const items = useMemo(() => toItems(turns), [toItems, turns]);
  const pending = usePending(session, state);
  const isEmpty = items.length === 0 && pending.length === 0;
  const last = items.at(-1);
  const { isAtEnd, scrollToEnd } = useStickToEnd(grows, !isEmpty);
  const seen = useRef(last);
  useEffect(() => {
    if (!isAtEnd) return;
    seen.current = last;
    chat.trim();
  }, [isAtEnd, last, chat]);
  const showEarlier = useCallback(() => {
    if (hasEarlier && state.error === null) void chat.showEarlier();
  }, [chat, hasEarlier, state.error]);
  const send = async (text: string, files: readonly Attachment[]) => {
    setError(null);
    scrollToEnd();
    try {
      await chat.send(text, files);
      return true;
    } catch (failure) {
      setError(failure);
      return false;
    }
  };
  return (
    <section ref={grows} aria-label="Conversation" className="flex min-h-[50dvh] grow flex-col">
      <div className="flex grow flex-col gap-4 pb-6">
        <Failure error={state.error} retry={() => void chat.showEarlier()} />
        {isEmpty && <Nothing session={session} state={state} />}
        <Shown value={chat}>
          <Opened value={opened}>
            <Rows
              items={items}
              isGrowing={turns.at(-1)?.state === "working"}
              isAtEnd={isAtEnd}
              onNearTop={showEarlier}
            />
          </Opened>
        </Shown>
        {pending.map(({ id, text }) => (
          <Prompt key={id} text={text} isSending />
        ))}
        {session.waiting_for && (
          <Asked
            key={session.waiting_for.request_id}
            ask={session.waiting_for}
            chat={chat}
            isStopped={session.status === "stopped"}
          />
        )}
      </div>
      <div className="sticky bottom-0 z-10 -mb-16 flex flex-col gap-2 bg-canvas pt-2 pb-4">
        {!isAtEnd && <ToEnd hasNews={seen.current !== last} onClick={scrollToEnd} />}
        <Queue session={session} />
        <Activity session={session} chat={chat} state={state} onError={setError} />
        <Failure error={error} />
        {session.status !== "failed" && (
          <Composer
            sessionId={session.session_id}
            verb={session.status === "running" || isStarting(session) ? "Send" : "Send and start"}
            hint={hintOf(session)}
            onSend={send}
          />
        )}
        {session.status !== "failed" && <Choices session={session} />}
      </div>
    </section>
  );
}

/** The prompts that are on their way: neither in the conversation nor in the queue below it. */
function usePending(session: Session, { pending }: ChatState): ChatState["pending"] {
  const { data } = usePrompts(session);
  const isElsewhere = (id: string) =>
    data?.prompts.some(({ prompt_id, state }) => prompt_id === id && state !== "running") ?? false;
  return pending.filter(({ id }) => !isElsewhere(id));
}

function hintOf(session: Session): string {
  if (isStarting(session)) return "The agent answers when the session is running.";
  if (session.status === "stopped") return "The session is stopped. A prompt starts it again.";
  return isBusy(session)
    ? "Enter sends. The agent continues with it after this answer."
    : "Enter sends, Shift-Enter inserts a new line.";
}

function ToEnd({ hasNews, onClick }: { hasNews: boolean; onClick: () => void }) {
  return (
    <div className="-top-8 absolute inset-x-0 flex justify-center">
      <Button onClick={onClick} className="shadow-md">
        {hasNews ? "New messages ↓" : "Scroll to the end ↓"}
      </Button>
    </div>
  );
}

function Nothing({ session, state: { connection } }: Pick<Props, "session" | "state">) {
  if (isStarting(session) || connection === "failed") return null;
  return (
    <p className="py-8 text-center text-muted">
      {connection === "connected" ? emptyText(session) : "Loading the conversation …"}
    </p>
  );
}

function emptyText(session: Session): string {
  return session.status === "running"
    ? "No messages yet. The agent waits for your prompt."
    : "No messages of this session are stored.";
}

/** What the agent is doing, with a button to abort it; otherwise the state of the connection. */
function Activity({ session, chat, state, onError }: Props & { onError: (error: unknown) => void }) {
  const [isAborting, setIsAborting] = useState(false);
  const { connection, turns } = state;
  const busy = isBusy(session);
  useEffect(() => {
    if (!busy) setIsAborting(false);
  }, [busy]);
  useEffect(() => {
    if (!busy) return;
    const onKey = (event: globalThis.KeyboardEvent) => {
      const isElsewhere = document.querySelector("dialog[open]") !== null;
      if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing && !isElsewhere) abort();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });
  const abort = () => {
    if (isAborting) return;
    setIsAborting(true);
    chat.abort().catch((error: unknown) => {
      setIsAborting(false);
      onError(error);
    });
  };
  if (connection === "failed") {
    return (
      <Notice kind="error">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <span>Cannot load the conversation: {messageOf(state.failure)}</span>
          <Button onClick={() => chat.connect()}>Try again</Button>
        </div>
      </Notice>
    );
  }
  if (connection !== "connected") {
    return (
      <p role="status" className="text-sm text-warn">
        {connection === "lost" ? (
          <>Connection lost. {turns.length === 0 && <Visible>{state.reason}</Visible>} Reconnecting …</>
        ) : (
          "Connecting …"
        )}
      </p>
    );
  }
  if (!busy) return null;
  const words = session.waiting_for
    ? "The agent waits for your answer"
    : runningTool(turns) || "The agent is working";
  return (
    <div className="flex items-center justify-between gap-3 text-sm">
      <p className="flex min-w-0 items-center gap-2 text-muted">
        <span aria-hidden="true" className="size-2 shrink-0 animate-pulse rounded-full bg-accent" />
        <span className="truncate">
          <Visible>{isAborting ? "Aborting" : words}</Visible>
        </span>
      </p>
      <Button busy={isAborting} onClick={abort} className="shrink-0">
        Abort <kbd className="text-muted text-xs">Esc</kbd>
      </Button>
    </div>
  );
}

function runningTool(turns: readonly Turn[]): string {
  const part = turns.at(-1)?.parts.findLast(({ kind, state }) => kind === "tool" && state === "running");
  return part?.tool ? `${part.tool.name} ${part.tool.title}`.trim() : "";
}
