/**
 * Splits Markdown into independent blocks, at empty lines outside of fenced code (CommonMark 0.31, 4.5). Appended text changes
 * only the last block.
 */
export function blocksOf(text: string): { at: number; text: string }[] {
  const blocks: { at: number; text: string }[] = [];
  let begin = 0;
  let fence: string | null = null;
  let at = 0;
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null && mark) fence = mark;
    else if (fence !== null && mark?.startsWith(fence) && line.trim() === mark) fence = null;
    const end = at + line.length + 1;
    if (fence === null && line.trim() === "") {
      if (text.slice(begin, at).trim() !== "") blocks.push({ at: begin, text: text.slice(begin, at) });
      begin = end;
    }
    at = end;
  }
  if (text.slice(begin).trim() !== "") blocks.push({ at: begin, text: text.slice(begin) });
  return blocks;
}
