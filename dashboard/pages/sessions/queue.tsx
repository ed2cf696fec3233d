import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Prompt } from "../../../src/contract/prompt.ts";
import type { Session } from "../../../src/contract/session.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { promptsKey } from "./follow-session.ts";
import { PROMPT_LOOKS, promptsPath, usePrompts } from "./prompts.ts";

/** The queued prompts, the next first. Each can be withdrawn. */
export function Queue({ session }: { session: Session }) {
  const { data } = usePrompts(session);
  const waiting = (data?.prompts ?? []).filter(({ state }) => state === "queued").toReversed();
  if (waiting.length === 0) return null;
  return (
    <ul aria-label="Queued prompts" className="flex max-h-40 flex-col gap-1 overflow-y-auto">
      {waiting.map((prompt) => (
        <Waiting key={prompt.prompt_id} session={session} prompt={prompt} />
      ))}
    </ul>
  );
}

function Waiting({ session, prompt }: { session: Session; prompt: Prompt }) {
  const queries = useQueryClient();
  const withdraw = useMutation({
    mutationFn: () => call("DELETE", promptsPath(session) + path`/${prompt.prompt_id}`),
    onSettled: () =>
      queries.invalidateQueries({ queryKey: promptsKey(session.project_id, session.session_id) }),
  });
  return (
    <li className="rounded-md border border-line bg-surface px-3 py-1 text-sm">
      <div className="flex items-center gap-2">
        <Badge look={PROMPT_LOOKS[prompt.state]}>{prompt.state}</Badge>
        <span className="min-w-0 grow truncate">
          <Visible>{prompt.text}</Visible>
        </span>
        <Button look="quiet" busy={withdraw.isPending} onClick={() => withdraw.mutate()}>
          Withdraw
        </Button>
      </div>
      <Failure error={withdraw.error} />
    </li>
  );
}
