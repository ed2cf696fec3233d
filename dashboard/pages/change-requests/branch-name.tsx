import { Visible } from "../../parts/visible.tsx";

export function BranchName({ children }: { children: string }) {
  return (
    <span className="rounded-md bg-raised px-1.5 py-0.5 font-mono text-ink text-sm">
      <Visible>{children}</Visible>
    </span>
  );
}
