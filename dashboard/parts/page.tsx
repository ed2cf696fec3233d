import { type ReactNode, useEffect, useRef } from "react";
import { setPageTitle } from "./title.ts";
import { Visible, visibleText } from "./visible.tsx";

interface Props {
  /** May be untrusted text. */
  title: string;
  /** Buttons next to the title. */
  actions?: ReactNode;
  /** A state, next to the title. */
  badge?: ReactNode;
  children: ReactNode;
}

/** A page. Sets the title of the document, and moves the focus to the heading for screen readers. */
export function Page({ title, actions, badge, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    setPageTitle(`${visibleText(title)} – svc`);
  }, [title]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <div className="flex flex-wrap items-start justify-between gap-3 pt-6 pb-4">
        <div className="flex min-w-0 flex-wrap items-center gap-3">
          <h1 ref={heading} tabIndex={-1} className="min-w-0 font-semibold text-2xl outline-none">
            <Visible>{title}</Visible>
          </h1>
          {badge}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      {children}
    </>
  );
}
