import { createContext, useContext, useMemo } from "react";
import { Link } from "wouter";
import type { ChangeRequestTurn } from "../../../../src/contract/change-request-turns.ts";
import { writerOf } from "../../../../src/conversation/written.ts";
import type { Hunk } from "./patch.ts";

/** The turns of the change request's session that are loaded, and the address of their list; null if it has none. */
export const Writers = createContext<{ turns: readonly ChangeRequestTurn[]; list: string } | null>(null);

/** A link to the turn that wrote a hunk; nothing if that is not known, as of lines that a person or a formatter wrote. */
export function Writer({ hunk, path }: { hunk: Hunk; path: string }) {
  const writers = useContext(Writers);
  const turn = useMemo(() => {
    const added = hunk.lines.flatMap((line) => (line.startsWith("+") ? line.slice(1) : []));
    return writers && writerOf(writers.turns, path, added);
  }, [writers, hunk, path]);
  if (!writers || !turn) return null;
  return (
    <Link href={`${writers.list}&turn=${turn.number}`} className="ml-auto shrink-0 underline">
      Turn {turn.number}
    </Link>
  );
}
