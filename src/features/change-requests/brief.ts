import type { ChangeRequestBrief } from "../../contract/change-request-brief.ts";
import { SvcError } from "../../contract/errors.ts";
import { referencedNumbers } from "../../contract/reference.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { NewAttachment } from "../sessions/prompts/attachments.ts";
import { failedChecks, lineOf } from "./failed-checks.ts";
import { asData, DATA, nameOf, quote, quoteAll } from "./prompt-text.ts";
import { readThreads, threadText } from "./review-threads.ts";
import { type CrRow, findChangeRequest } from "./row.ts";

/** A brief: a few thousand tokens. */
const BRIEF_MAX_BYTES = 24 * 1024;
/** Characters of a description. */
const DESCRIPTION_MAX = 6_000;
/** The end of the log of a failed check, and how many of them have one. */
const LOG = { lines: 60, characters: 3_000 } as const;
const LOGS_MAX = 3;

/** What the mention of a change request tells an agent: description, failed checks and unresolved comments. @throws not_found */
export async function briefOf(deps: Deps, project: ProjectRow, name: string): Promise<ChangeRequestBrief> {
  const row = await findChangeRequest(deps.db, project, name);
  const parts = [
    ...descriptionOf(row),
    ...(await checksOf(deps, project, row)),
    ...(await commentsOf(deps, project, row)),
  ];
  return {
    name: `change-request-${row.number}.md`,
    text: `${[`The ${nameOf(row)} is ${row.status}. ${DATA}`, ...parts].join("\n\n")}\n`,
  };
}

/** The briefs of the change requests that a prompt mentions, as attachments. Other numbers are no mentions. */
export async function referencesIn(deps: Deps, project: ProjectRow, text: string): Promise<NewAttachment[]> {
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

async function checksOf(deps: Deps, project: ProjectRow, row: CrRow): Promise<string[]> {
  if (row.headCommitSha === null) return [];
  const { failed, total } = await failedChecks(deps, project, row, LOG);
  if (failed.length === 0) return [];
  const head = `${total} failed ${total === 1 ? "check" : "checks"} of its last commit ${row.headCommitSha}:`;
  const logs = failed
    .filter(({ log, output }) => log || output)
    .slice(0, LOGS_MAX)
    .map(({ context, log, output }) =>
      output
        ? `The output of ${asData(context)}:\n\n${quote(output)}`
        : `The end of the log of ${asData(context)}:\n\n${quote(log ?? "")}`,
    );
  return [`${head}\n\n${quoteAll(failed.map(lineOf), "\n").quoted}`, ...logs];
}

async function commentsOf(deps: Deps, project: ProjectRow, row: CrRow): Promise<string[]> {
  const threads = await readThreads(deps, project, row, undefined);
  if (threads.length === 0) return [];
  const { quoted, left } = quoteAll(threads.map(threadText), "\n\n", BRIEF_MAX_BYTES);
  const rest = left > 0 ? `\n\n${left} more: svc cr comments ${row.number} --open` : "";
  return [`Its unresolved comments:\n\n${quoted}${rest}`];
}
