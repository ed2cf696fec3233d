import { and, desc, gt, gte, isNull, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { conversationParts, conversationTurns } from "../../../../db/schema/index.ts";
import { DAEMON_MARK } from "../../../contract/conversation.ts";
import { RECAP_TEXT_MAX, recapText } from "../../../contract/recap.ts";
import type { PartKind, TurnPlan } from "../../../contract/turn.ts";
import type { RuntimeRequest } from "../../../conversation/request.ts";
import { askedOf, planLines } from "../../../conversation/shown-part.ts";
import { isOf } from "./of-session.ts";
import { beginningColumns, beginningOf } from "./stored-text.ts";

/** Turns that are summarized, and parts that are read for it. */
const TURNS = 50;
const PARTS = 2_000;
/** Uses of tools of one turn. */
const TOOLS_MAX = 20;
/** Characters of the end of a tool's output, which the newest turn has. */
const OUTPUT_MAX = 400;

const HEAD = `# Earlier in this conversation

This session ran before, in a sandbox that has ended. These are your last turns with the user, the oldest first, shortened.
The files are those of the branch, and of the work that was restored: look at them before you rely on a detail.
`;

const HEAD_OF_REST = `# The last turns of this conversation

This session ran before, in a sandbox that was lost before it saved these turns, which are shortened and missing above.
The files are those of the branch, and of the work that was restored: look at them before you rely on a detail.
`;

interface Piece {
  turn: number;
  kind: PartKind;
  plainText: string;
  deflatedText: Uint8Array | null;
  tool: string | null;
  output: string | null;
  plan: TurnPlan | null;
  request: RuntimeRequest | null;
  file: string | null;
}

/**
 * What an agent in a new sandbox is told of its session's conversation so far, in Markdown: prompts, the texts of the
 * answers, and the uses of tools by their titles, in the newest turn with the ends of their outputs. The newest turns that
 * fit.
 * @param after the number of a turn: the agent knows that one and those before it
 * @returns null if there is none
 */
export async function recapOf(db: Db, sessionId: string, after = 0): Promise<string | null> {
  const head = after === 0 ? HEAD : HEAD_OF_REST;
  const turns = await db
    .select({ number: conversationTurns.number, state: conversationTurns.state })
    .from(conversationTurns)
    .where(and(isOf(conversationTurns, sessionId), gt(conversationTurns.number, after)))
    .orderBy(desc(conversationTurns.number))
    .limit(TURNS);
  const first = turns.at(-1);
  if (!first) return null;
  const pieces = await db
    .select(PIECE)
    .from(conversationParts)
    .where(
      and(
        isOf(conversationParts, sessionId),
        gte(conversationParts.turn, first.number),
        isNull(conversationParts.parentId),
      ),
    )
    .orderBy(desc(conversationParts.number))
    .limit(PARTS);
  return recapText(head, sectionsOf(turns, pieces));
}

/** The newest first. Notes of the daemon are not the user's. */
function* sectionsOf(
  turns: readonly Pick<typeof conversationTurns.$inferSelect, "number" | "state">[],
  pieces: readonly Piece[],
): Generator<string> {
  let isNewest = true;
  for (const { number, state } of turns) {
    const own = pieces.filter(({ turn }) => turn === number).toReversed();
    if (own.length > 0 && own.every(isNote)) continue;
    yield sectionOf(
      own.filter((piece) => !isNote(piece)),
      { isCutOff: state !== "done", isNewest },
    );
    isNewest = false;
  }
}

const isNote = (piece: Piece): boolean =>
  piece.kind === "prompt" && beginningOf(piece, DAEMON_MARK.length) === DAEMON_MARK;

const { turn, kind, tool, file, plan, request } = conversationParts;
const PIECE = {
  turn,
  kind,
  ...beginningColumns(RECAP_TEXT_MAX + 1),
  tool: sql<
    string | null
  >`left(${tool}->>'name' || ' ' || (${tool}->>'title') || case when ${tool}->>'error' is null then '' else ' (failed)' end, 200)`,
  output: sql<
    string | null
  >`right(coalesce(${tool}->>'error', ${tool}->>'output'), ${sql.raw(String(OUTPUT_MAX))})`,
  plan,
  request,
  file: sql<string | null>`left(${file}->>'name', 200)`,
};

/** Characters of a question with its answer. */
const ASKED_MAX = 500;

function sectionOf(
  pieces: readonly Piece[],
  { isCutOff, isNewest }: { isCutOff: boolean; isNewest: boolean },
): string {
  const lines: string[] = [];
  const tools = pieces.filter((piece) => piece.tool !== null);
  for (const piece of pieces) if (piece.kind === "prompt") lines.push("## User", "", shown(piece), "");
  for (const { file } of pieces) if (file !== null) lines.push(`(Attached, and not kept: ${file})`, "");
  lines.push("## You", "");
  for (const { tool: use, output } of tools.slice(-TOOLS_MAX)) {
    lines.push(`- ${use}`);
    if (isNewest && output?.trim())
      lines.push(
        ...output
          .trim()
          .split("\n")
          .map((line) => `  > ${line}`),
      );
  }
  if (tools.length > 0) lines.push("");
  for (const { request } of pieces)
    for (const { asked, answer } of request ? askedOf(request, "done") : [])
      lines.push(`You asked: ${asked} Answer: ${answer}`.slice(0, ASKED_MAX), "");
  const plan = pieces.findLast((piece) => piece.plan !== null)?.plan;
  if (plan) lines.push("Your plan:", "", ...planLines(plan), "");
  for (const piece of pieces) if (piece.kind === "text") lines.push(shown(piece), "");
  if (isCutOff) lines.push("(This answer was cut off.)", "");
  return lines.join("\n");
}

function shown(piece: Piece): string {
  const text = beginningOf(piece, RECAP_TEXT_MAX + 1);
  return text.length > RECAP_TEXT_MAX ? `${beginningOf(piece, RECAP_TEXT_MAX).trimEnd()} …` : text;
}
