import { useState } from "react";
import { forget, readStored, store } from "../../../parts/stored.ts";

/** What is typed for a session and not sent: it outlives the page, in this browser alone. */
export function useDraft(sessionId: string): [string, (next: string | ((now: string) => string)) => void] {
  const key = `svc-draft-${sessionId}`;
  const [draft, setDraft] = useState(() => readStored(key) ?? "");
  const set = (next: string | ((now: string) => string)) =>
    setDraft((now) => {
      const text = typeof next === "string" ? next : next(now);
      if (text === "") forget(key);
      else store(key, text);
      return text;
    });
  return [draft, set];
}
