import { useRef, useState } from "react";
import { forget, readStored, store } from "./stored.ts";

/** Text that is being written. It is stored for this tab until it is sent, also while its field is not on the page. */
export function useDraft(key: string): [string, (text: string | ((now: string) => string)) => void] {
  const name = `svc-draft:${key}`;
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
