/**
 * In code every character should be seen that a reader does not see but a compiler does ("Trojan Source", CVE-2021-42574
 * and CVE-2021-42694): direction marks, control characters, joiners, soft hyphens, fillers and blanks of no width. What an
 * emoji is made of is left alone.
 */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.source;
const IN_EMOJI = [
  /(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})/u,
  /(?<=\p{Emoji})\ufe0f/u,
].map(({ source }) => source);
const HIDDEN_IN_CODE = new RegExp(
  `(?!\\t)(?:[\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u2800]|(?!${IN_EMOJI.join("|")})${UNSEEN})`,
  "gu",
);

/** Those that change in which order the others are shown. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const PLAIN = /^[\t\x20-\x7e]*$/;

/** Where hidden characters are in a line, and what they are. */
export function hiddenIn(line: string): { at: number; character: string }[] {
  if (PLAIN.test(line)) return [];
  return Array.from(line.matchAll(HIDDEN_IN_CODE), ({ 0: character, index }) => ({ at: index, character }));
}

export interface HiddenCount {
  /** Changes the order in which a line is shown. */
  turning: number;
  /** Is there and is not seen. */
  unseen: number;
}

/** Counts what is hidden in lines of a patch; a CR that ends a line is none. */
export function countHidden(lines: Iterable<string>): HiddenCount {
  const count = { turning: 0, unseen: 0 };
  for (const line of lines) {
    for (const { character } of hiddenIn(withoutCr(line))) {
      if (TURNING.test(character)) count.turning++;
      else count.unseen++;
    }
  }
  return count;
}

export function withoutCr(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
