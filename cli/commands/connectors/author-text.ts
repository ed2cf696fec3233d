import type { Author } from "../../../src/contract/author.ts";

/** Who made a call, in few characters. */
export function authorText(author: Author | null): string {
  if (author === null) return "";
  if (author.kind === "agent") return `agent ${author.session_id?.slice(0, 8) ?? ""}`.trim();
  return author.name;
}
