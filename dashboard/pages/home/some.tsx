import { type ReactNode, useState } from "react";
import { Button } from "../../parts/button.tsx";

/** The rows of a list that are shown at first: the start page is an overview. */
const SHOWN = 5;

/**
 * The first rows of a list, and the button that shows the others; null if there are none.
 * @param title of the list, for screen readers
 */
export function useSome<T>(rows: readonly T[], title: string): [shown: readonly T[], toggle: ReactNode] {
  const [isOpen, setIsOpen] = useState(false);
  if (rows.length <= SHOWN) return [rows, null];
  const toggle = (
    <Button look="quiet" aria-expanded={isOpen} className="mt-1" onClick={() => setIsOpen(!isOpen)}>
      {isOpen ? "Show fewer" : `Show all ${rows.length}`}
      <span className="sr-only"> in {title}</span>
    </Button>
  );
  return [isOpen ? rows : rows.slice(0, SHOWN), toggle];
}
