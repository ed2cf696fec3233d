import { useEffect, useState, useSyncExternalStore } from "react";
import type { Session } from "../../../../src/contract/session.ts";
import { useShown } from "../../../api/shown.ts";
import { Chat, type ChatState } from "./chat.ts";

/** The conversation of a session, updated live. A hidden page disconnects, and catches up when it is visible. */
export function useChat(session: Session): { chat: Chat; state: ChatState } {
  const [chat] = useState(() => new Chat(session));
  const isShown = useShown();
  useEffect(() => {
    if (!isShown) return;
    chat.connect();
    return () => chat.end();
  }, [chat, isShown]);
  return { chat, state: useSyncExternalStore(chat.subscribe, () => chat.state) };
}
