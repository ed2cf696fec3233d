import type { Context } from "../../context.ts";

/** Rows after which a list is cut, unless --limit says otherwise: nobody reads on, and scripts narrow it. */
export const MANY = 10_000;

/** What people recognise a commit by. */
export const shortSha = (sha: string): string => sha.slice(0, 10);

/** Says that there may be more than was asked for by default. */
export async function tellIfCut(
  { out }: Context,
  found: number,
  limit: number | undefined,
  usual: number,
): Promise<void> {
  if (limit === undefined && found === usual) {
    await out.note(`Only the first ${usual} are shown; --limit <n> shows more, up to ${MANY}.`);
  }
}
