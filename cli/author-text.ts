import type { Author } from "../src/contract/author.ts";
import { oneLine } from "./text.ts";

/** The author of a change: `by Ada`, `by the agent of session 1f… for Ada`, `by the token "ci"`. */
export function byAuthor(author: Author | null): string {
  if (author === null) return "";
  const name = oneLine(author.name);
  if (author.kind === "token") return ` by the token "${name}"`;
  if (author.kind === "user") return ` by ${name}`;
  return author.session_id
    ? ` by the agent of session ${oneLine(author.session_id)} for ${name}`
    : ` by an agent for ${name}`;
}

/** The author in few characters, for a column of a table; empty: svc itself, or not known. */
export function authorText(author: Author | null): string {
  if (author === null) return "";
  if (author.kind === "agent") return `agent ${author.session_id?.slice(0, 8) ?? ""}`.trim();
  return author.name;
}
