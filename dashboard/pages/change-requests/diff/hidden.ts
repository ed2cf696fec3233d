/**
 * Characters that a compiler reads but a reader does not see ("Trojan Source", CVE-2021-42574 and CVE-2021-42694):
 * direction marks, control characters, joiners, soft hyphens, fillers and zero-width spaces. Parts of emoji are excluded.
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

/** Characters that change the order in which others are shown. */
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const PLAIN = /^[\t\x20-\x7e]*$/;

/** The hidden characters of a line and their positions. */
export function hiddenIn(line: string): { at: number; character: string }[] {
  if (PLAIN.test(line)) return [];
  return Array.from(line.matchAll(HIDDEN_IN_CODE), ({ 0: character, index }) => ({ at: index, character }));
}

export interface HiddenCount {
  /** Characters that change the order in which a line is shown. */
  turning: number;
  /** Other invisible characters. */
  unseen: number;
}

/** Counts the hidden characters in lines of a patch, except a CR at the end of a line. */
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
