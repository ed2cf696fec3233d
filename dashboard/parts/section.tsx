import { type ReactNode, useId } from "react";

interface Props {
  title: string;
  /** The purpose of the section. */
  about?: ReactNode;
  /** Buttons next to the title. */
  actions?: ReactNode;
  /** Marks a section of destructive actions. */
  isDanger?: boolean;
  children: ReactNode;
}

/** A section of a settings page. Its title is on the left, or above its content on narrow screens. */
export function Section({ title, about, actions, isDanger = false, children }: Props) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className="grid items-start gap-x-10 gap-y-3 border-line border-t py-6 first:border-t-0 first:pt-2 lg:grid-cols-[17rem_minmax(0,1fr)]"
    >
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 lg:flex-col lg:justify-start">
        <div className="min-w-0">
          <h2 id={id} className="font-semibold text-lg">
            {title}
          </h2>
          {about && <p className="mt-1 max-w-prose text-muted text-sm">{about}</p>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      <div
        className={`min-w-0 rounded-lg border bg-surface p-4 shadow-xs sm:p-5 ${isDanger ? "border-danger" : "border-line"}`}
      >
        {children}
      </div>
    </section>
  );
}
