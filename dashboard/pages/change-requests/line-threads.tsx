import { Composer } from "./composer.tsx";
import type { Place } from "./diff/rows.ts";
import { useAct, type Where } from "./queries.ts";
import { ThreadView } from "./thread-view.tsx";
import type { Thread } from "./threads.ts";

interface Props {
  where: Where;
  place: Place;
  threads: readonly Thread[];
  isComposing: boolean;
  onClose: () => void;
}

/** The threads of a line, and a field for a new comment on it. */
export function LineThreads({ where, place, threads, isComposing, onClose }: Props) {
  const act = useAct(where);
  return (
    <div className="flex max-w-3xl flex-col gap-2">
      {threads.map((thread) => (
        <ThreadView key={thread.first.comment_id} where={where} thread={thread} />
      ))}
      {isComposing && (
        <div className="rounded-md border border-line bg-surface p-3">
          <Composer
            draft={`${where.projectId} ${where.cr} ${place.side} ${place.line} ${place.path}`}
            label={`Comment on line ${place.line}${place.side === "old" ? " (before)" : ""}`}
            verb="Comment"
            act={act}
            request={(body) => ({ at: "/comments", body: { body, ...place } })}
            onClose={onClose}
          />
        </div>
      )}
    </div>
  );
}
