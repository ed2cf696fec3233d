/** A text that is shown while it is written. */
export interface ShownText {
  turnId: string;
  text: string;
  isComplete: boolean;
  /** The text of an earlier attempt, which this one may repeat. */
  repeats: string | null;
}

/**
 * Updates a text to `text` and returns the new piece; null if there is none. `begins` marks the first piece that is
 * shown.
 */
export function updateText(
  shown: ShownText,
  text: string,
  isWhole: boolean,
): { begins: boolean; text: string } | null {
  const before = shown.text;
  // the final text comes without trailing white space
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
