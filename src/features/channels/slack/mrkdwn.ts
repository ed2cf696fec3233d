import { HIDDEN, HIDDEN_IN_TEXT } from "../../../contract/hidden.ts";

/** Separates characters that have a meaning only beside each other. Not shown. */
const ZERO_WIDTH_SPACE = "\u200b";
const ESCAPED: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * Text of a person or an agent, escaped as Slack requires (Formatting message text), so that it can contain neither links
 * with another text nor mentions, and `@channel` and the like notify nobody.
 * @param max characters of the result; a longer text is cut
 */
export function escapeText(text: string, max: number): string {
  const clean = text
    .replaceAll("\r\n", "\n")
    .replace(HIDDEN_IN_TEXT, "")
    .replace(/@(?=channel|here|everyone|group)/gi, `@${ZERO_WIDTH_SPACE}`);
  let result = "";
  for (const character of clean) {
    const next = ESCAPED[character] ?? character;
    if (result.length + next.length > max - 1) return `${result}…`;
    result += next;
  }
  return result;
}

/** The same in one line, whose marks of emphasis and code have no meaning: for titles. They count twice. */
export function escapeLine(text: string, max: number): string {
  const line = text.replace(HIDDEN, " ").replace(/\s+/g, " ").trim();
  return escapeText(line, max).replace(/[`*_~]/g, (mark) => mark + ZERO_WIDTH_SPACE);
}

/** Plain text of a button, in which Slack reads no markup. */
export function plainText(text: string, max: number): string {
  const line = text.replace(HIDDEN, " ").replace(/\s+/g, " ").trim() || "…";
  return line.length > max
    ? `${line
        .slice(0, max - 1)
        .toWellFormed()
        .replace(/\ufffd$/, "")}…`
    : line;
}

/** A link. @param url of svc itself */
export function link(url: string, text: string): string {
  return `<${encodeURI(decodeURI(url)).replaceAll("|", "%7C").replaceAll(">", "%3E")}|${text}>`;
}

/**
 * What a person typed in Slack, as text for an agent: without the mention of the bot, and with links, names and the
 * three escaped characters as they are shown.
 */
export function readText(text: string, botUserId: string): string {
  return text
    .replace(HIDDEN_IN_TEXT, "")
    .replaceAll(`<@${botUserId}>`, "")
    .replace(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_, target: string, label: string | undefined) =>
      shownReference(target, label),
    )
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .trim();
}

function shownReference(target: string, label: string | undefined): string {
  if (/^[@#!]/.test(target)) {
    const name = label ?? target.slice(1).replace(/^subteam\^/, "");
    return target.startsWith("#") ? `#${name}` : `@${name.replace(/^@/, "")}`;
  }
  return label === undefined || target.endsWith(label) ? target : `${label} (${target})`;
}
