import { attachedText } from "../../../src/contract/attachment.ts";
import { DAEMON_MARK } from "../../../src/contract/conversation.ts";
import type { ConversationPage, Turn, TurnPart, TurnRequest } from "../../../src/contract/turn.ts";
import { askedOf, planLines } from "../../../src/conversation/shown-part.ts";
import { joinTurns } from "../../../src/conversation/turns.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/session-conversation.ts";
import { lines, oneLine } from "../../text.ts";
import { showPaged } from "../show-paged.ts";
import { type Found, findOwnSession } from "./reference.ts";

/** Parts of one request. */
const PAGE = 200;

export const conversation: Handler<typeof table.conversation> = async (context, { args, flags }) => {
  const { out } = context;
  const found = await findOwnSession(context, args.id);
  const turns = await readTurns(found, flags.limit ?? Number.POSITIVE_INFINITY);
  if (out.data.json) return out.result(turns, () => "");
  if (turns.length === 0) return out.note("Nothing has been said in this session yet.");
  await showPaged(context, markdown(turns, flags.details), flags["no-pager"]);
};

/** The last turns, whole, in order. */
export async function readTurns({ api, path }: Found, limit: number): Promise<Turn[]> {
  let turns: readonly Turn[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.call<ConversationPage>({
      path: `${path}/conversation`,
      query: { limit: PAGE, cursor },
    });
    if (!Array.isArray(page.turns))
      throw new CliError("unexpected_response", "The host sent a conversation without turns.");
    turns = joinTurns(page.turns, turns);
    cursor = page.next_cursor;
    // the first turn may have earlier parts on the next page
  } while (cursor !== undefined && turns.length <= limit);
  return turns.slice(-limit);
}

async function* markdown(turns: readonly Turn[], hasDetails: boolean): AsyncGenerator<string> {
  for (const [index, turn] of turns.entries())
    yield `${index > 0 ? "\n" : ""}${markdownOf(turn, hasDetails)}`;
}

export function markdownOf(turn: Turn, hasDetails: boolean): string {
  const by = isNote(turn.parts[0]) ? "svc" : "Prompt";
  const who = turn.author ? oneLine(turn.author.name) : by;
  const head = `## ${turn.number}. ${who}, ${oneLine(turn.started_at)}\n`;
  const parts = turn.parts.map((part) => partOf(part, hasDetails)).filter((text) => text !== "");
  return [head, ...parts, ...endOf(turn)].join("\n");
}

function partOf(
  { kind, state, text, tool, plan, request, file, cut, parent_id }: TurnPart,
  hasDetails: boolean,
): string {
  const isSubagent = parent_id !== null;
  if (isSubagent && !tool && !hasDetails) return "";
  if (plan) return plan.length === 0 ? "" : `${lines(planLines(plan).join("\n"))}\n`;
  if (request) return requestOf(request, state);
  const rest = cut ? "\n\n(Only the beginning is kept.)" : "";
  const clean = `${lines(text).trim()}${rest}\n`;
  if (isNote({ kind, text })) return `*${clean.slice(DAEMON_MARK.length).trim()}*\n`;
  if (kind === "prompt") return quoted(clean);
  if (file) return `> Attached: ${oneLine(attachedText(file))}\n`;
  if (kind === "reasoning") return hasDetails ? `*Thought:* ${clean}` : "";
  if (!tool) return text.trim() === "" ? "" : `${isSubagent ? "*Subagent:* " : ""}${clean}`;
  const error = tool.error === null ? "" : `: ${oneLine(tool.error)}`;
  const title = `${isSubagent ? "  " : ""}- \`${oneLine(tool.name)}\` ${oneLine(tool.title)}${error}\n`;
  if (!hasDetails) return title;
  const inputs = tool.input.map(({ name, value }) => `${name}: ${value}`).join("\n");
  return [title, block(inputs), block(tool.patch, "diff"), block(tool.output)]
    .filter((each) => each !== "")
    .join("\n");
}

/** A note to the agent, for example that its runtime restarted. */
function isNote(part: Pick<TurnPart, "kind" | "text"> | undefined): boolean {
  return part?.kind === "prompt" && part.text.startsWith(DAEMON_MARK);
}

function requestOf(request: TurnRequest, state: TurnPart["state"]): string {
  const by = request.answered_by ? ` (${request.answered_by.name})` : "";
  const pairs = askedOf(request, state).map(
    ({ asked, answer }) => `- *Asked:* ${oneLine(asked)}\n  *Answer:* ${oneLine(answer + by)}\n`,
  );
  return pairs.join("");
}

const quoted = (text: string): string =>
  `${text
    .trimEnd()
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n")}\n`;

/** A fenced block; its fence is longer than any in the text. */
function block(text: string, language = ""): string {
  if (text.trim() === "") return "";
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${lines(text).trimEnd()}\n${fence}\n`;
}

function endOf({ state, error }: Turn): string[] {
  if (state === "done") return [];
  const words = {
    working: "The agent is working.",
    failed: "It failed.",
    aborted: "It was aborted.",
    interrupted: "It was cut off when the sandbox ended.",
  };
  return [`*${words[state]}${error === null ? "" : ` ${oneLine(error)}`}*\n`];
}
