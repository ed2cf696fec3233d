import { and, eq, not } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { checks, commitStatuses } from "../../../db/schema/index.ts";
import { CONTEXTS_MAX } from "../../contract/commit-status.ts";
import { SvcError } from "../../contract/errors.ts";
import { shorten } from "../../http/text.ts";
import type { Caller } from "../../identity/auth/caller.ts";
import { linkOf } from "./describe.ts";
import { isOf } from "./record-status.ts";

/** @throws forbidden for an agent, which would pass its own work */
export function requireReporter(caller: Caller): void {
  if (caller.kind === "user" || caller.sessionId === null) return;
  throw new SvcError(
    "forbidden",
    "The token of a session cannot report checks, because an agent would pass its own work. Use a project token or a personal access token.",
  );
}

/** @throws validation_failed for what is not a link that people can follow */
export function requireLink(field: string, text: string): string {
  const link = linkOf(text);
  if (link !== null) return link;
  const message = "must be an http:// or https:// URL without a user name or a password";
  throw new SvcError("validation_failed", `${field} ${message}.`, { details: [{ path: field, message }] });
}

type Reported = Parameters<typeof isOf>[0];

/**
 * Checks that a status can be added to its commit, or replaced.
 * @throws validation_failed; forbidden when svc itself runs the check on this commit
 */
export async function requireReportable(tx: Db, of: Reported): Promise<void> {
  await requireRoom(tx, of);
  await requireForeign(tx, of);
}

async function requireRoom(tx: Db, of: Reported): Promise<void> {
  const { projectId, sha } = commitStatuses;
  const it = isOf(of);
  const others = and(eq(projectId, of.projectId), eq(sha, of.sha), it && not(it));
  if ((await tx.$count(commitStatuses, others)) < CONTEXTS_MAX) return;
  throw new SvcError(
    "validation_failed",
    `The commit has checks of ${CONTEXTS_MAX} names, which is the limit. Report under one of these names.`,
  );
}

async function requireForeign(tx: Db, of: Reported): Promise<void> {
  const { projectId, sha, name } = checks;
  const own = and(eq(projectId, of.projectId), eq(sha, of.sha), eq(name, of.context));
  if ((await tx.$count(checks, own)) === 0) return;
  throw new SvcError(
    "forbidden",
    `svc runs the check "${shorten(of.context)}" on this commit itself, so its result cannot be reported. Report under another name.`,
  );
}
