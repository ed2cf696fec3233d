import { type ReactNode, useId } from "react";

interface Props {
  title: string;
  /** What the part is for. */
  about?: ReactNode;
  /** What can be done in it, beside its title. */
  actions?: ReactNode;
  /** Its border warns: what is in it cannot be taken back. */
  isDanger?: boolean;
  children: ReactNode;
}

/** A part of a page of settings: what it is on the left, or above where there is no room; what it holds in a frame. */
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
