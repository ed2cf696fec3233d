import { DAEMON_MARK } from "../../src/contract/conversation.ts";
import { RECAP_TEXT_MAX, recapText } from "../../src/contract/recap.ts";
import type { Message } from "./messages.ts";

const HEAD = `# Earlier in this conversation

Your own record of it was lost. These are your last turns with the user, the oldest first, shortened.
`;

/** What an agent that lost its conversation is told of it, in Markdown: the newest messages that fit. */
export function recapOf(messages: readonly Message[]): string {
  return recapText(HEAD, messages.toReversed().flatMap(sectionOf));
}

/** @returns none for notes of the daemon, which are not the user's */
function sectionOf({ info, parts }: Message): string[] {
  const lines = parts.flatMap((part) => {
    if (part.type === "text") return part.text.startsWith(DAEMON_MARK) ? [] : [shorten(part.text), ""];
    return part.type === "tool" ? [`- ${part.tool} ${part.state.title}`] : [];
  });
  if (lines.length === 0 && info.role === "user") return [];
  return [[`## ${info.role === "user" ? "User" : "You"}`, "", ...lines, ""].join("\n")];
}

const shorten = (text: string): string =>
  text.length > RECAP_TEXT_MAX ? `${text.slice(0, RECAP_TEXT_MAX)} …` : text;
