import { and, asc, eq, getTableColumns, gt, inArray, isNull, or } from "drizzle-orm";
import { sessionPrompts } from "../../../../db/schema/index.ts";
import type { PromptChange } from "../../../contract/prompt.ts";
import type { Deps } from "../../../deps.ts";
import { changesToWire } from "./wire.ts";

/**
 * Returns the changes of a session's prompts since the last call; the first call returns the open prompts.
 * @param last the number of the session's last prompt at the first call
 */
export function createPromptPoller(
  deps: Pick<Deps, "db">,
  sessionId: string,
  last: number,
): () => Promise<PromptChange[]> {
  let newest = last;
  /** Open prompts, by number → the JSON that was returned last. */
  const seen = new Map<number, string>();
  const { text: _, ...columns } = getTableColumns(sessionPrompts);
  return async () => {
    const rows = await deps.db
      .select(columns)
      .from(sessionPrompts)
      .where(
        and(
          eq(sessionPrompts.sessionId, sessionId),
          or(
            isNull(sessionPrompts.endedAt),
            gt(sessionPrompts.number, newest),
            inArray(sessionPrompts.number, [...seen.keys()]),
          ),
        ),
      )
      .orderBy(asc(sessionPrompts.number));
    return (await changesToWire(deps.db, rows)).filter((change) => {
      const text = JSON.stringify(change);
      const isChanged = seen.get(change.number) !== text;
      newest = Math.max(newest, change.number);
      if (change.ended_at === null) seen.set(change.number, text);
      else seen.delete(change.number);
      return isChanged;
    });
  };
}
