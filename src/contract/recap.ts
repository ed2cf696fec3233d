/** Characters of one text of a recap, and of the whole, about 6,000 tokens. */
export const RECAP_TEXT_MAX = 3_000;
const RECAP_MAX = 24_000;

/**
 * What an agent is told of a conversation that it does not remember, in Markdown: the newest sections that fit.
 * @param sections the newest first; read as far as they fit, and at least one
 */
export function recapText(head: string, sections: Iterable<string>): string {
  const told: string[] = [];
  let length = head.length;
  for (const section of sections) {
    length += section.length;
    if (length > RECAP_MAX && told.length > 0) break;
    told.push(section.slice(0, RECAP_MAX - head.length));
  }
  return [head, ...told.toReversed()].join("\n");
}
