import type { Session } from "../../../src/contract/session.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { PROMPT_LOOKS, usePrompts } from "./prompts.ts";

/** The prompts that were queued for a session, and their states. */
export function PromptList({ session }: { session: Session }) {
  const { data, error, isPending, refetch } = usePrompts(session);
  const prompts = data?.prompts ?? [];
  if (isPending) return <Loading what="Loading the prompts" />;
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (prompts.length === 0) {
    return (
      <Empty
        title="No prompts"
        command={`svc sessions prompt ${session.session_id} "Fix the login page on phones"`}
      >
        Prompts of triggers and programs, and prompts sent while the session is stopped, are listed here.
      </Empty>
    );
  }
  return (
    <ol className="divide-y divide-line rounded-lg border border-line bg-surface">
      {prompts.map((prompt) => (
        <li key={prompt.prompt_id} className="flex flex-col gap-1 px-4 py-3">
          <div className="flex items-center gap-3 text-muted text-sm">
            <span>{prompt.number}.</span>
            <Badge look={PROMPT_LOOKS[prompt.state]}>{prompt.state}</Badge>
            <Ago at={prompt.created_at} />
          </div>
          <p className="line-clamp-6 whitespace-pre-wrap">
            <Visible>{prompt.text}</Visible>
          </p>
          {prompt.error !== null && (
            <p className="text-danger text-sm">
              <Visible>{prompt.error}</Visible>
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}
