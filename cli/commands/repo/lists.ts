import type { Context } from "../../context.ts";

/** The default of --limit. */
export const MANY = 10_000;

/** An abbreviated commit id. */
export const shortSha = (sha: string): string => sha.slice(0, 10);

/** Reports that the default limit was reached. */
export async function noteIfTruncated(
  { out }: Context,
  found: number,
  limit: number | undefined,
  usual: number,
): Promise<void> {
  if (limit === undefined && found === usual) {
    await out.note(`Only the first ${usual} are shown; --limit <n> shows more, up to ${MANY}.`);
  }
}
