/** Text of which some has been shown. */
export interface Shown {
  text: string;
  isComplete: boolean;
  /** Whether some of it was told while nobody listened: only the whole of it can be gone on with. */
  hasGap: boolean;
  /** What an earlier try of the model has said already, and this one may only repeat. */
  repeats: string | null;
}

/**
 * What is new of a text that is `text` as a whole by now; null for nothing. `begins` says that it is the first that is
 * shown of it.
 */
export function grow(shown: Shown, text: string, isWhole: boolean): { begins: boolean; text: string } | null {
  const before = shown.text;
  // the whole is told without the white space at its end
  if (before.startsWith(text)) return null;
  const begins = before === "";
  if (!text.startsWith(before)) {
    shown.text = text;
    return { begins: true, text };
  }
  shown.text = text;
  if (shown.repeats === null) return { begins, text: text.slice(before.length) };
  if (shown.repeats.startsWith(text) && !isWhole) return null;
  const said = shown.repeats;
  shown.repeats = null;
  if (!text.startsWith(said)) return said.startsWith(text) ? null : { begins: true, text };
  return text === said ? null : { begins: false, text: text.slice(said.length) };
}
