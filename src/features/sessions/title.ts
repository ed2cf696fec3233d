import { and, eq, isNull } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projectSessions } from "../../../db/schema/index.ts";
import { HIDDEN_IN_TEXT } from "../../contract/hidden.ts";
import { SESSION_TITLE_MAX } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { SessionRow } from "./row.ts";

/** Characters in which the first words of a prompt are searched. */
const SEARCHED_MAX = 4_000;

interface Title {
  of: "promptTitle" | "agentTitle";
  /** Null: it has no words. */
  text: string | null;
}

/** What lists call a session: the name that a person gave it, or else a title; null before its first prompt. */
export function titleOf({ name, agentTitle, promptTitle }: SessionRow): string | null {
  return name ?? agentTitle ?? promptTitle;
}

/** The first words of a prompt, as plain text on one line; null if it has none. */
export function firstWords(prompt: string): string | null {
  const lines = prompt.slice(0, SEARCHED_MAX).toWellFormed().split("\n").map(plainText);
  return shorten(lines.find((line) => /[\p{L}\p{N}]/u.test(line)) ?? "");
}

/** A title that an agent's model wrote, as plain text on one line; null if it has no words. */
export function cleanTitle(title: string): string | null {
  return firstWords(title.replaceAll("\n", " "));
}

/**
 * Names a session by its first prompt, or by its agent, unless that is done: in a new sandbox the agent begins another
 * conversation, with a title of its own. The last statement of its transaction.
 * @returns whether it did
 */
export async function recordTitle(
  tx: Db,
  { sessionId, projectId }: SessionRow,
  title: Title,
): Promise<boolean> {
  if (title.text === null) return false;
  const column = projectSessions[title.of];
  const [row] = await tx
    .update(projectSessions)
    .set({ [title.of]: title.text })
    .where(and(eq(projectSessions.sessionId, sessionId), isNull(column)))
    .returning({ id: projectSessions.sessionId });
  if (row) await publish(tx, projectId, { type: "session", id: sessionId, action: "changed" });
  return row !== undefined;
}

/** As `recordTitle`, in a transaction of its own. */
export async function storeTitle(
  deps: Pick<Deps, "db" | "changes">,
  session: SessionRow,
  title: Title,
): Promise<void> {
  if (session[title.of] !== null) return;
  if (await deps.db.transaction((tx) => recordTitle(tx, session, title)))
    deps.changes.notify(session.sessionId);
}

/** A line without Markdown, tags and hidden characters. */
function plainText(line: string): string {
  return line
    .replace(HIDDEN_IN_TEXT, "")
    .replace(/!?\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)/g, "$1")
    .replace(/<\/?[a-z!][^<>]*>/gi, "")
    .replace(/^\s*(?:#{1,6}\s|>|[-*+]\s|\d{1,3}[.)]\s|\s)*/, "")
    .replace(/`+|\*\*|__(?=\w)|(?<=\w)__|~~/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Ends at a word if it is too long. */
function shorten(line: string): string | null {
  const characters = [...line];
  if (characters.length <= SESSION_TITLE_MAX) return line === "" ? null : line;
  const cut = characters.slice(0, SESSION_TITLE_MAX - 1).join("");
  const words = cut.replace(/\s+\S*$/, "");
  return `${words.length > cut.length / 2 ? words : cut}…`;
}
