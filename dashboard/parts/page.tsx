import { type ReactNode, useEffect, useRef } from "react";
import { Visible, visibleText } from "./visible.tsx";

interface Props {
  /** May come from elsewhere. */
  title: string;
  /** What can be done on the page, beside its title. */
  actions?: ReactNode;
  /** Beside the title: a state. */
  badge?: ReactNode;
  children: ReactNode;
}

/** A page: names the document, and takes the focus to its heading, so that a screen reader begins there. */
export function Page({ title, actions, badge, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${visibleText(title)} – svc`;
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
