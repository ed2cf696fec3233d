import { usage } from "./failure.ts";

/** Splits a line as a shell does, with quotes and backslashes, and expands nothing. @throws CliError `usage` for an open quote. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  const part = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/gsy;
  let word: string | null = null;
  while (part.lastIndex < line.length) {
    const at = part.lastIndex;
    const found = part.exec(line);
    if (found === null) throw usage(`A quote is not closed: ${line.slice(at)}`);
    const [, single, double, escaped, plain] = found;
    const text = single ?? double?.replace(/\\(["\\])/g, "$1") ?? escaped ?? plain;
    if (text !== undefined) word = (word ?? "") + text;
    else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}
