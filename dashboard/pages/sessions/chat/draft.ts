import { useState } from "react";

/** What is typed for a session and not sent: it outlives the page, in this browser alone. */
export function useDraft(sessionId: string): [string, (next: string | ((now: string) => string)) => void] {
  const key = `svc-draft-${sessionId}`;
  const [draft, setDraft] = useState(() => read(key));
  const set = (next: string | ((now: string) => string)) =>
    setDraft((now) => {
      const text = typeof next === "string" ? next : next(now);
      write(key, text);
      return text;
    });
  return [draft, set];
}

function read(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function write(key: string, text: string): void {
  try {
    if (text === "") localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // a browser that keeps nothing keeps no draft
  }
}
