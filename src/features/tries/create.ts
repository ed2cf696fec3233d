import { randomUUID } from "node:crypto";
import { SvcError } from "../../contract/errors.ts";
import type { CreateTriesBody, Tries } from "../../contract/tries.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { derivedId } from "../../lib/derived-id.ts";
import { referencesIn } from "../change-requests/brief.ts";
import { createSessions } from "../sessions/create.ts";
import { readTries } from "./read.ts";

/**
 * Starts several sessions with the same first prompt, all or none. A request with the same id returns the same sessions.
 * @throws as `createSessions`
 */
export async function createTries(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  { count, tries_id, runtimes, models, ...body }: CreateTriesBody,
): Promise<Tries> {
  const triesId = (tries_id ?? randomUUID()).toLowerCase();
  const bodies = Array.from({ length: count }, (_, index) => {
    const [runtime, model] = [inTurn(runtimes, index), inTurn(models, index)];
    return {
      ...body,
      ...(runtime !== undefined && { runtime }),
      ...(model !== undefined && { model }),
      session_id: derivedId("try", project.projectId, triesId, String(index)),
    };
  });
  const references = await referencesIn(deps, project, body.initial_prompt);
  await createSessions(deps, caller, project, bodies, { references, triesId }).catch((error: unknown) => {
    if (!(error instanceof SvcError) || error.code !== "session_exists") throw error;
  });
  return await readTries(deps, project, triesId);
}

function inTurn(values: readonly string[] | undefined, index: number): string | undefined {
  return values?.[index % values.length];
}
