const FENCE = /^ {0,3}(`{3,})[ \t]*suggestion[ \t]*$/;

/**
 * The lines that a comment suggests in the place of its own: those of its fenced code block with the language `suggestion`. No
 * lines: they should go.
 * @returns null when it has no such block, or several
 */
export function suggestionOf(body: string): string[] | null {
  const lines = body.split(/\r?\n/);
  const found: string[][] = [];
  for (let at = 0; at < lines.length; at++) {
    const fence = FENCE.exec(lines[at] ?? "")?.[1];
    if (fence === undefined) continue;
    const end = lines.findIndex((line, after) => after > at && closes(line, fence));
    if (end < 0) return null;
    found.push(lines.slice(at + 1, end));
    at = end;
  }
  return found.length === 1 ? (found[0] ?? null) : null;
}

function closes(line: string, fence: string): boolean {
  const closing = /^ {0,3}(`{3,})[ \t]*$/.exec(line)?.[1];
  return closing !== undefined && closing.length >= fence.length;
}
