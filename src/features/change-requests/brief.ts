import type { ChangeRequestBrief } from "../../contract/change-request.ts";
import { SvcError } from "../../contract/errors.ts";
import { referencedNumbers } from "../../contract/reference.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { combinedStatusOf, hasFailed } from "../checks/statuses.ts";
import type { NewAttachment } from "../sessions/prompts/attachments.ts";
import { DATA, nameOf, quote, quoteAll } from "./prompt-text.ts";
import { readThreads, threadText } from "./review-threads.ts";
import { type CrRow, findChangeRequest } from "./row.ts";

/** A brief: a few thousand tokens. */
const BRIEF_MAX_BYTES = 24 * 1024;
/** Characters of a description, and failed checks that are listed. */
const DESCRIPTION_MAX = 6_000;
const CHECKS_MAX = 20;

/** What the mention of a change request tells an agent: description, failed checks and unresolved comments. @throws not_found */
export async function briefOf(
  deps: Pick<Deps, "db">,
  project: ProjectRow,
  name: string,
): Promise<ChangeRequestBrief> {
  const row = await findChangeRequest(deps.db, project, name);
  const parts = [
    ...descriptionOf(row),
    ...(await checksOf(deps, project, row)),
    ...(await commentsOf(deps, row)),
  ];
  return {
    name: `change-request-${row.number}.md`,
    text: `${[`The ${nameOf(row)} is ${row.status}. ${DATA}`, ...parts].join("\n\n")}\n`,
  };
}

/** The briefs of the change requests that a prompt mentions, as attachments. Other numbers are no mentions. */
export async function referencesIn(
  deps: Pick<Deps, "db">,
  project: ProjectRow,
  text: string,
): Promise<NewAttachment[]> {
  const found = await Promise.all(
    referencedNumbers(text).map((number) =>
      briefOf(deps, project, String(number)).catch((error: unknown) => {
        if (error instanceof SvcError && error.code === "not_found") return null;
        throw error;
      }),
    ),
  );
  return found.flatMap((brief) => {
    if (brief === null) return [];
    const bytes = Buffer.from(brief.text);
    return [{ name: brief.name, type: "text/plain", size: bytes.length, data: bytes.toString("base64") }];
  });
}

function descriptionOf({ description, number }: CrRow): string[] {
  if (description.trim() === "") return [];
  const isCut = description.length > DESCRIPTION_MAX;
  const rest = isCut ? `\n\n(The rest: svc cr show ${number})` : "";
  return [`Its description:\n\n${quote(description.slice(0, DESCRIPTION_MAX).toWellFormed())}${rest}`];
}

async function checksOf(deps: Pick<Deps, "db">, project: ProjectRow, row: CrRow): Promise<string[]> {
  if (row.headCommitSha === null) return [];
  const { statuses } = await combinedStatusOf(deps, project, row.headCommitSha);
  const failed = statuses.filter(({ state }) => hasFailed(state));
  if (failed.length === 0) return [];
  const lines = failed
    .slice(0, CHECKS_MAX)
    .map(({ context, description, target_url }) =>
      [context, description, target_url].filter((text) => text !== null).join(" · "),
    );
  const head = `${failed.length} failed ${failed.length === 1 ? "check" : "checks"} of its last commit ${row.headCommitSha}:`;
  return [`${head}\n\n${quoteAll(lines, "\n").quoted}`];
}

async function commentsOf(deps: Pick<Deps, "db">, row: CrRow): Promise<string[]> {
  const threads = await readThreads(deps, row, undefined);
  if (threads.length === 0) return [];
  const { quoted, left } = quoteAll(threads.map(threadText), "\n\n", BRIEF_MAX_BYTES);
  const rest = left > 0 ? `\n\n${left} more: svc cr comments ${row.number} --open` : "";
  return [`Its unresolved comments:\n\n${quoted}${rest}`];
}
