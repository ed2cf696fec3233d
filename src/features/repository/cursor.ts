import type { Deps } from "../../deps.ts";
import { readCursor } from "../../http/page.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { type Resolved, resolveRef, shownRef } from "./resolve.ts";

/**
 * The commit and offset of a page. The cursor holds both, so that later pages do not change when the branch moves.
 * @throws validation_failed, and what `resolveRef` throws.
 */
export async function resolvePage(
  deps: Deps,
  project: ProjectRow,
  { ref, cursor }: { ref: string | undefined; cursor: string | undefined },
): Promise<Resolved & { skip: number }> {
  const text = readCursor(cursor, COMMIT_CURSOR);
  if (text === null) return { ...(await resolveRef(deps, project, ref)), skip: 0 };
  const [commit = "", skip] = text.split(".");
  const resolved = await resolveRef(deps, project, commit);
  return { ...resolved, ref: shownRef(project, ref), skip: Number(skip) };
}

/** The member `next_cursor` of a page, if there are more rows. */
export function nextCursor(commit: string, shown: number, more: boolean): { next_cursor?: string } {
  return more ? { next_cursor: Buffer.from(`${commit}.${shown}`).toString("base64url") } : {};
}

const COMMIT_CURSOR = /^(?:[0-9a-f]{40}|[0-9a-f]{64})\.[1-9]\d{0,7}$/;
