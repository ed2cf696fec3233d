import { useRef, useState } from "react";

/** Words that are being written, kept in this tab until they are sent: also when their place leaves the window. */
export function useDraft(key: string): [string, (text: string | ((now: string) => string)) => void] {
  const name = `svc-draft:${key}`;
  const [text, setText] = useState(() => kept(name));
  const last = useRef(text);
  return [
    text,
    (next) => {
      last.current = typeof next === "string" ? next : next(last.current);
      setText(last.current);
      keep(name, last.current);
    },
  ];
}

function kept(name: string): string {
  try {
    return sessionStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

function keep(name: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
  } catch {
    // a browser that keeps nothing has it for as long as the field is there
  }
}
