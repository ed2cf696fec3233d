import { useEffect, useRef, useSyncExternalStore } from "react";
import { readStored, store } from "./stored.ts";

/** A key of the current page, and what it does. */
interface KeyAction {
  /** As `KeyboardEvent.key` has it. */
  key: string;
  about: string;
  run: () => void;
}

const STORED = "svc-keys";
/** The keys of the components on the page. */
let shown: readonly (readonly KeyAction[])[] = [];
const listeners = new Set<() => void>();

/** Adds keys to the page while a component is on it. They do nothing while the reader types, or in a dialog. */
export function useKeys(actions: readonly KeyAction[]): void {
  const now = useRef(actions);
  useEffect(() => {
    now.current = actions;
  });
  // the keys change rarely, and what they do with every rendering
  const names = actions.map(({ key, about }) => `${key} ${about}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const own = now.current.map((action, index) => ({ ...action, run: () => now.current[index]?.run() }));
    show([...shown, own]);
    return () => show(shown.filter((each) => each !== own));
  }, [names]);
}

/** The keys of the current page. */
export function useShownKeys(): readonly KeyAction[] {
  return useSyncExternalStore(subscribe, () => shown).flat();
}

/** Whether keys without Ctrl or Cmd do something (WCAG 2.2, 2.1.4), stored in this browser, and the setter. */
export function useKeysOn(): [boolean, (on: boolean) => void] {
  const isOn = useSyncExternalStore(subscribe, areOn);
  return [
    isOn,
    (on) => {
      store(STORED, on ? "on" : "off");
      for (const listener of listeners) listener();
    },
  ];
}

const areOn = () => readStored(STORED) !== "off";

function show(groups: typeof shown): void {
  shown = groups;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Lets the keys of the page work. */
export function listenToKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isTyping(event) || !areOn()) return;
    const action = shown.flat().find(({ key }) => key === event.key);
    if (!action) return;
    event.preventDefault();
    action.run();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

/** Whether a key is text in a field, or belongs to a dialog. */
function isTyping({ target, isComposing }: KeyboardEvent): boolean {
  const own = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog";
  return isComposing || (target instanceof Element && target.closest(own) !== null);
}
