import { and, asc, eq, getTableColumns, gt, inArray, isNull, or } from "drizzle-orm";
import { sessionPrompts } from "../../../../db/schema/index.ts";
import type { PromptChange } from "../../../contract/prompt.ts";
import type { Deps } from "../../../deps.ts";
import { changesToWire } from "./wire.ts";

/**
 * Tells again and again what has become of a session's prompts since it was last asked: at first of those that are not
 * over.
 * @param last the number of the session's last prompt, when nothing was told yet
 */
export function createPromptTeller(
  deps: Pick<Deps, "db">,
  sessionId: string,
  last: number,
): () => Promise<PromptChange[]> {
  let newest = last;
  /** Prompts that are not over as far as was told, by number → what was told. */
  const told = new Map<number, string>();
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
            inArray(sessionPrompts.number, [...told.keys()]),
          ),
        ),
      )
      .orderBy(asc(sessionPrompts.number));
    return (await changesToWire(deps.db, rows)).filter((change) => {
      const text = JSON.stringify(change);
      const isNews = told.get(change.number) !== text;
      newest = Math.max(newest, change.number);
      if (change.ended_at === null) told.set(change.number, text);
      else told.delete(change.number);
      return isNews;
    });
  };
}
