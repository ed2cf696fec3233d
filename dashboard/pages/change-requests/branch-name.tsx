import { Visible } from "../../parts/visible.tsx";
import { shortId } from "../sessions/words.ts";

export function BranchName({ children, title }: { children: string; title?: string }) {
  return (
    <span className="rounded-md bg-raised px-1.5 py-0.5 font-mono text-ink text-sm" title={title}>
      <Visible>{children}</Visible>
    </span>
  );
}

/** The branch of a session is named after its id, of which the first digits say enough. */
export function HeadBranch({ cr }: { cr: { head_ref: string; origin_session_id: string | null } }) {
  const { head_ref: name } = cr;
  if (name !== cr.origin_session_id) return <BranchName>{name}</BranchName>;
  return <BranchName title={name}>{shortId(name)}</BranchName>;
}
