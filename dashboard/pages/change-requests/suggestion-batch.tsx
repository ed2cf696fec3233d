import { createContext, type ReactNode, use, useMemo, useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Comment } from "../../../src/contract/comment.ts";
import { arrayOf, parseJson } from "../../../src/contract/json.ts";
import { SUGGESTIONS_MAX } from "../../../src/contract/limits.ts";
import { suggestionOf } from "../../../src/contract/suggestion.ts";
import { Button } from "../../parts/button.tsx";
import { count } from "../../parts/count.ts";
import { Failure } from "../../parts/notice.tsx";
import { forget, readStored, store } from "../../parts/stored.ts";
import { useAct, type Where } from "./queries.ts";
import type { Thread } from "./threads.ts";

/** The suggestions that the reader applies in one commit. */
interface Batch {
  has(id: string): boolean;
  isFull: boolean;
  add(id: string): void;
  remove(id: string): void;
}

const BatchContext = createContext<Batch | null>(null);

interface Props {
  where: Where;
  cr: ChangeRequest;
  threads: readonly Thread[];
  children: ReactNode;
}

/** Collects suggestions from the threads below it, and shows a bar that commits them. A reload of the tab keeps them. */
export function SuggestionBatch({ where, cr, threads, children }: Props) {
  const key = `svc-suggestions:${cr.cr_id}`;
  const [chosen, setChosen] = useState<readonly string[]>(() => read(key));
  const ids = useMemo(() => {
    const applicable = new Set(threads.flatMap(applicableOf));
    return cr.status === "open" ? chosen.filter((id) => applicable.has(id)) : [];
  }, [chosen, threads, cr.status]);
  const batch = useMemo(() => {
    const change = (after: readonly string[]) => {
      setChosen(after);
      if (after.length === 0) forget(key, "sessionStorage");
      else store(key, JSON.stringify(after), "sessionStorage");
    };
    return {
      has: (id: string) => ids.includes(id),
      isFull: ids.length >= SUGGESTIONS_MAX,
      add: (id: string) => change([...ids, id]),
      remove: (id: string) => change(ids.filter((each) => each !== id)),
      clear: () => change([]),
    };
  }, [ids, key]);
  return (
    <BatchContext value={batch}>
      {children}
      {ids.length > 0 && <Bar where={where} head={cr.head_commit_sha} ids={ids} onClear={batch.clear} />}
    </BatchContext>
  );
}

/** The batch of the change request that is shown. */
export const useSuggestionBatch = (): Batch | null => use(BatchContext);

/** Whether a comment has a suggestion that can be committed. */
export function mayApply({ body }: Comment, { line, side, resolved_at }: Comment): boolean {
  return line !== null && side === "new" && resolved_at === null && suggestionOf(body) !== null;
}

function applicableOf({ first, replies }: Thread): string[] {
  return [first, ...replies]
    .filter((comment) => mayApply(comment, first))
    .map(({ comment_id }) => comment_id);
}

function read(key: string): string[] {
  return arrayOf(parseJson(readStored(key, "sessionStorage") ?? "")).filter((id) => typeof id === "string");
}

interface BarProps {
  where: Where;
  head: string | null;
  ids: readonly string[];
  onClear: () => void;
}

function Bar({ where, head, ids, onClear }: BarProps) {
  const act = useAct(where);
  const body = { comment_ids: ids, ...(head !== null && { head_commit_sha: head }) };
  return (
    <section
      aria-label="Batch of suggestions"
      className="sticky bottom-0 z-10 mt-4 flex flex-wrap items-center gap-2 rounded-md border border-line bg-surface p-3"
    >
      <span className="grow">{count(ids.length, "suggestion")} in the batch</span>
      <Button look="quiet" onClick={onClear}>
        Clear
      </Button>
      <Button
        look="primary"
        busy={act.isPending}
        onClick={() => act.mutate({ at: "/comments/apply", body }, { onSuccess: onClear })}
      >
        Commit suggestions
      </Button>
      <Failure error={act.error} />
    </section>
  );
}
