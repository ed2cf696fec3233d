import type { Commit } from "../../contract/repository.ts";

/** Co-authors of a commit that are returned. */
const CO_AUTHORS_MAX = 50;

const TRAILER = /^co-authored-by:([^<>]*)<([^<>]+)>\s*$/i;

/**
 * The co-authors of a commit, each address once: the `Co-authored-by: <name> <<address>>` lines in the last paragraph of its
 * message, as GitHub reads them.
 */
export function coAuthorsOf(body: string): Commit["co_authors"] {
  const last = body.slice(body.lastIndexOf("\n\n") + 1);
  const found = new Map<string, Commit["co_authors"][number]>();
  for (const line of last.split("\n")) {
    const [, name = "", address = ""] = TRAILER.exec(line) ?? [];
    const email = address.trim();
    if (email !== "" && !found.has(email.toLowerCase()))
      found.set(email.toLowerCase(), { name: name.trim() || email, email });
  }
  return [...found.values()].slice(0, CO_AUTHORS_MAX);
}
