import { useState } from "react";

/** Words that are being written, kept in this tab until they are sent: also when their place leaves the window. */
export function useDraft(key: string): [string, (text: string) => void] {
  const name = `svc-draft:${key}`;
  const [text, setText] = useState(() => kept(name));
  return [
    text,
    (now) => {
      setText(now);
      keep(name, now);
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
