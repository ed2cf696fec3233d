import type { Message } from "./messages.ts";

/** Characters of one text, and of the whole. */
const TEXT_MAX = 3_000;
const RECAP_MAX = 24_000;

const HEAD = `# Earlier in this conversation

Your own record of it was lost. These are your last turns with the user, the oldest first, shortened.
`;

/** What an agent that lost its conversation is told of it, in Markdown: the newest messages that fit. */
export function recapOf(messages: readonly Message[]): string {
  const sections: string[] = [];
  let length = HEAD.length;
  for (const message of messages.toReversed()) {
    const section = sectionOf(message);
    length += section.length;
    if (length > RECAP_MAX && sections.length > 0) break;
    sections.push(section.slice(0, RECAP_MAX - HEAD.length));
  }
  return [HEAD, ...sections.toReversed()].join("\n");
}

function sectionOf({ info, parts }: Message): string {
  const lines = parts.flatMap((part) => {
    if (part.type === "text") return [shorten(part.text), ""];
    return part.type === "tool" ? [`- ${part.tool} ${part.state.title}`] : [];
  });
  return [`## ${info.role === "user" ? "User" : "You"}`, "", ...lines, ""].join("\n");
}

const shorten = (text: string): string => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)} …` : text);
