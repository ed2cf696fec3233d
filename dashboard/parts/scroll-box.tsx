import type { ReactNode, RefObject } from "react";

interface Props {
  /** Describes the content for screen readers. */
  label: string;
  className: string;
  ref?: RefObject<HTMLElement | null>;
  children: ReactNode;
}

/** A scrollable area that is reachable by keyboard (WCAG 2.2, 2.1.1). */
export function ScrollBox({ label, className, ref, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section ref={ref} aria-label={label} tabIndex={0} className={`overflow-auto ${className}`}>
      {children}
    </section>
  );
}
