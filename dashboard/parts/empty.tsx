import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Command } from "./command.tsx";

interface Props {
  title: string;
  icon?: LucideIcon;
  command?: string;
  children?: ReactNode;
}

/** The empty state of a list: what to do next, and the command for it. */
export function Empty({ title, icon: Icon, command, children }: Props) {
  return (
    <div className="mx-auto flex max-w-xl flex-col gap-3 py-12 text-center">
      {Icon && <Icon className="mx-auto size-8 text-muted" />}
      <h2 className="font-semibold text-lg">{title}</h2>
      {children && <div className="text-muted">{children}</div>}
      {command && (
        <div className="text-left">
          <Command>{command}</Command>
        </div>
      )}
    </div>
  );
}
