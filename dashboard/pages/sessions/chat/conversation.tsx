import { useEffect, useRef, useState } from "react";
import type { Attachment } from "../../../../src/contract/attachment.ts";
import type { Session } from "../../../../src/contract/session.ts";
import { messageOf } from "../../../api/failure.ts";
import { Button } from "../../../parts/button.tsx";
import { useKeepPlace } from "../../../parts/keep-place.ts";
import { Failure, Notice } from "../../../parts/notice.tsx";
import { useStickToEnd } from "../../../parts/stick-to-end.ts";
import { Visible } from "../../../parts/visible.tsx";
import { Choices } from "../choices.tsx";
import { Queue } from "../queue.tsx";
import { isStarting } from "../words.ts";
import { Asked } from "./ask.tsx";
import { type Chat, type ChatState, queuePrompt } from "./chat.ts";
import { Composer } from "./composer.tsx";
import { OneItem, Prompt } from "./item.tsx";
import { StoredTurns } from "./stored-turns.tsx";
import { type Stored, useStored } from "./use-stored.ts";

/** Number of items shown at first, and added by each click on "Show earlier". */
const SHOWN = 100;

interface Props {
  session: Session;
  chat: Chat;
  state: ChatState;
}

/** The conversation with the agent, and the field for the next prompt. */
export function Conversation({ session, chat, state }: Props) {
  const grows = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState(SHOWN);
  const [error, setError] = useState<unknown>(null);
  const isRunning = session.status === "running";
  const stored = useStored(session, chat, state);
  const { turns } = stored;
  const live = stored.isAlone ? [] : state.items;
  // what is stored continues in the first item
  const items = turns.length > 0 ? live : live.slice(-shown);
  const pending = state.pending.filter(({ id }) => turns.every(({ turn_id }) => turn_id !== id));
  const isEmpty = turns.length === 0 && items.length === 0 && pending.length === 0;
  const last = items.at(-1);
  const keepPlace = useKeepPlace(grows, turns[0]?.parts[0]?.part_id ?? items[0]?.key ?? "");
  const { isAtEnd, scrollToEnd } = useStickToEnd(grows, !isEmpty);
  const seen = useRef(last);
  useEffect(() => {
    if (isAtEnd) seen.current = last;
  }, [isAtEnd, last]);
  const hasHidden = live.length > items.length;
  const showEarlier = (below: Element | null) => {
    keepPlace(below);
    if (hasHidden) setShown(shown + SHOWN);
    else stored.showEarlier();
  };
  const send = async (text: string, files: readonly Attachment[]) => {
    setError(null);
    scrollToEnd();
    try {
      await (isRunning ? chat.send(text, files) : queuePrompt(session, text, files));
      return true;
    } catch (failure) {
      setError(failure);
      return false;
    }
  };
  return (
    <section aria-label="Conversation" className="flex min-h-[50dvh] grow flex-col">
      <div
        ref={grows}
        className="flex grow flex-col gap-4 pb-6 [overflow-anchor:none] [&>details+details]:-mt-2.5"
      >
        <Failure error={stored.error} retry={stored.retry} />
        {(hasHidden || stored.hasEarlier) && <Earlier isLoading={stored.isLoading} onShow={showEarlier} />}
        {isEmpty && <Nothing session={session} state={state} stored={stored} />}
        <StoredTurns turns={turns} />
        {turns.length > 0 && !stored.isAlone && state.extent === "all" && <NewSandbox />}
        {items.map((item) => (
          <OneItem key={item.key} item={item} isGrowing={state.isBusy && item === last} />
        ))}
        {pending.map(({ key, text }) => (
          <Prompt key={key} text={text} isSending />
        ))}
        {state.asks.map((ask) => (
          <Asked key={ask.id} ask={ask} chat={chat} />
        ))}
      </div>
      <div className="sticky bottom-0 z-10 -mb-16 flex flex-col gap-2 bg-canvas pt-2 pb-4">
        {!isAtEnd && <ToEnd hasNews={seen.current !== last} onClick={scrollToEnd} />}
        <Queue session={session} />
        <Activity session={session} chat={chat} state={state} onError={setError} />
        <Failure error={error} />
        {session.status !== "failed" && (
          <Composer
            sessionId={session.session_id}
            verb={isRunning || isStarting(session) ? "Send" : "Send and start"}
            hint={hintOf(session, state)}
            onSend={send}
          />
        )}
        {session.status !== "failed" && <Choices session={session} />}
      </div>
    </section>
  );
}

function hintOf(session: Session, { isBusy }: ChatState): string {
  if (isStarting(session)) return "The agent answers when the session is running.";
  if (session.status === "stopped") return "The session is stopped. A prompt starts it again.";
  return isBusy
    ? "Enter sends. The agent continues with it after this answer."
    : "Enter sends, Shift-Enter inserts a new line.";
}

/** @param onShow receives the element below */
function Earlier({ isLoading, onShow }: { isLoading: boolean; onShow: (below: Element | null) => void }) {
  const place = useRef<HTMLDivElement>(null);
  return (
    <div ref={place} className="text-center">
      <Button busy={isLoading} onClick={() => onShow(place.current?.nextElementSibling ?? null)}>
        Show earlier
      </Button>
    </div>
  );
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

function NewSandbox() {
  return (
    <p className="flex items-center gap-3 py-2 text-muted text-sm before:h-px before:grow before:bg-line after:h-px after:grow after:bg-line">
      A new sandbox starts here.
    </p>
  );
}

function Nothing({ session, state, stored }: Pick<Props, "session" | "state"> & { stored: Stored }) {
  if (isStarting(session)) return null;
  const isRunning = session.status === "running";
  if (!isRunning && stored.error !== null) return null;
  return (
    <p className="py-8 text-center text-muted">
      {stored.isAlone && !isRunning
        ? "No messages of this session are stored."
        : state.connection === "connected"
          ? "No messages yet. The agent waits for your prompt."
          : "Loading the conversation …"}
    </p>
  );
}

/** What the agent is doing, with a button to abort it; otherwise the state of the connection. */
function Activity({ session, chat, state, onError }: Props & { onError: (error: unknown) => void }) {
  const [isAborting, setIsAborting] = useState(false);
  const { isBusy, asks, activity, connection } = state;
  useEffect(() => {
    if (!isBusy) setIsAborting(false);
  }, [isBusy]);
  useEffect(() => {
    if (!isBusy) return;
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
  if (session.status !== "running") return null;
  if (connection === "failed") {
    return (
      <Notice kind="error">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <span>Cannot connect to the conversation: {messageOf(state.failure)}</span>
          <Button onClick={() => chat.connect()}>Try again</Button>
        </div>
      </Notice>
    );
  }
  if (connection !== "connected") {
    return (
      <p role="status" className="text-sm text-warn">
        {connection === "lost" ? "Connection lost. Reconnecting …" : "Connecting …"}
      </p>
    );
  }
  if (!isBusy) return null;
  const words = asks.length > 0 ? "The agent waits for your answer" : activity || "The agent is working";
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
