import { createContext, type ReactNode, useContext, useState } from "react";

/** The keys of the items that the reader has opened: they stay open when they are scrolled out of the document. */
export const Opened = createContext<Set<string>>(new Set());

interface Props {
  id: string;
  summary: ReactNode;
  /** Rendered while it is open. */
  children: () => ReactNode;
}

/** A line of a conversation that expands. */
export function Folded({ id, summary, children }: Props) {
  const opened = useContext(Opened);
  const [isOpen, setIsOpen] = useState(() => opened.has(id));
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        if (open) opened.add(id);
        else opened.delete(id);
        setIsOpen(open);
      }}
      className="group rounded-md border border-line bg-surface"
    >
      <summary className="flex min-h-9 list-none items-center gap-2 rounded-md px-3 py-1.5 text-sm hover:bg-raised">
        {summary}
        <span aria-hidden="true" className="shrink-0 text-muted transition-transform group-open:rotate-90">
          ›
        </span>
      </summary>
      {isOpen && (
        <div className="flex flex-col gap-3 border-line border-t px-3 py-3 text-sm">{children()}</div>
      )}
    </details>
  );
}
