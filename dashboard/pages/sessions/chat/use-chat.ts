import { useEffect, useState, useSyncExternalStore } from "react";
import type { Session } from "../../../../src/contract/session.ts";
import { useShown } from "../../../api/shown.ts";
import { Chat, type ChatState } from "./chat.ts";

/** The conversation of a session, as it goes on; whoever looks away lets go of it, and catches up afterwards. */
export function useChat(session: Session): { chat: Chat; state: ChatState } {
  const [chat] = useState(() => new Chat(session));
  const isShown = useShown();
  const isRunning = session.status === "running";
  useEffect(() => {
    if (!isShown || !isRunning) return;
    chat.listen();
    return () => chat.end();
  }, [chat, isShown, isRunning]);
  return { chat, state: useSyncExternalStore(chat.subscribe, () => chat.state) };
}
