import { useRef, useState } from "react";

/** Text that is being written. It is stored for this tab until it is sent, also while its field is not on the page. */
export function useDraft(key: string): [string, (text: string | ((now: string) => string)) => void] {
  const name = `svc-draft:${key}`;
  const [text, setText] = useState(() => load(name));
  const last = useRef(text);
  return [
    text,
    (next) => {
      last.current = typeof next === "string" ? next : next(last.current);
      setText(last.current);
      save(name, last.current);
    },
  ];
}

function load(name: string): string {
  try {
    return sessionStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

function save(name: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
  } catch {
    // without session storage the text lasts as long as the field is on the page
  }
}
