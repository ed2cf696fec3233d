import { useRef, useState } from "react";
import { forget, readStored, store } from "./stored.ts";

/** Text that is being written. It is stored for this tab until it is sent, also while its field is not on the page. */
export function useDraft(key: string): [string, (text: string | ((now: string) => string)) => void] {
  const name = nameOf(key);
  const [text, setText] = useState(() => readStored(name, "sessionStorage") ?? "");
  const last = useRef(text);
  return [
    text,
    (next) => {
      last.current = typeof next === "string" ? next : next(last.current);
      setText(last.current);
      if (last.current === "") forget(name, "sessionStorage");
      else store(name, last.current, "sessionStorage");
    },
  ];
}

/** Gives the text of a draft to another one, unless that has text. Fields that are on the page do not follow. */
export function moveDraft(from: string, to: string): void {
  const [text, other] = [from, to].map((key) => readStored(nameOf(key), "sessionStorage"));
  if (from === to || !text || other) return;
  store(nameOf(to), text, "sessionStorage");
  forget(nameOf(from), "sessionStorage");
}

function nameOf(key: string): string {
  return `svc-draft:${key}`;
}
