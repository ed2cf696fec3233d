import { type KeyboardEvent, useEffect, useId, useState } from "react";
import { useLocation } from "wouter";
import { SEARCH_MAX } from "../../src/contract/limits.ts";
import { count } from "../parts/count.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Visible } from "../parts/visible.tsx";
import { type Entry, useEntries } from "./palette-entries.ts";

/** Finds pages, projects, sessions, change requests and actions of the current page by their names. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const entries = useEntries(words);
  const [, go] = useLocation();
  const id = useId();
  const chosen = Math.min(at, entries.length - 1);
  const optionId = (index: number) => `${id}-${index}`;
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: "nearest" });
  });
  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    // after the dialog has returned the focus
    setTimeout(() => ("to" in entry ? go(entry.to) : entry.run()));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((chosen + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === "Enter" && !event.nativeEvent.isComposing) choose(entries[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" isDraft={false} onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="Page, project, session, change request or action"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={entries.length > 0 ? optionId(chosen) : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        maxLength={SEARCH_MAX}
        value={words}
        onChange={(event) => {
          setWords(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        className="w-full rounded-md border border-edge bg-surface px-3 py-2"
      />
      <p role="status" className={entries.length === 0 ? "mt-3 text-muted" : "sr-only"}>
        {entries.length === 0 ? "No results" : count(entries.length, "result")}
      </p>
      <div
        id={id}
        role="listbox"
        aria-label="Results"
        className="mt-3 max-h-[50dvh] overflow-y-auto empty:hidden"
      >
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
          <div
            key={entry.id}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => choose(entry)}
            className="flex cursor-pointer items-baseline gap-3 rounded-md px-3 py-2 hover:bg-raised aria-selected:bg-raised"
          >
            <span className="wrap-anywhere min-w-0 grow">
              <Visible>{entry.label}</Visible>
            </span>
            <span className="wrap-anywhere max-w-[50%] shrink-0 text-muted text-sm">
              <Visible>{entry.kind}</Visible>
            </span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}
