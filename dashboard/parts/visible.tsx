import { HIDDEN_IN_TEXT } from "../../src/contract/hidden.ts";

/**
 * Untrusted text. Its direction does not affect the text around it, and hidden characters are shown by their code points
 * (`U+202E`).
 */
export function Visible({ children }: { children: string }) {
  const parts: { at: number; text: string; hidden: boolean }[] = [];
  let end = 0;
  for (const { 0: character, index } of children.matchAll(HIDDEN_IN_TEXT)) {
    if (index > end) parts.push({ at: end, text: children.slice(end, index), hidden: false });
    parts.push({ at: index, text: nameOf(character), hidden: true });
    end = index + character.length;
  }
  if (end < children.length) parts.push({ at: end, text: children.slice(end), hidden: false });
  return (
    <bdi className="wrap-anywhere">
      {parts.map(({ at, text, hidden }) =>
        hidden ? (
          <span
            key={at}
            className="rounded-sm bg-warn-ground px-0.5 font-mono text-warn text-xs"
            title="A hidden character"
          >
            {text}
          </span>
        ) : (
          text
        ),
      )}
    </bdi>
  );
}

/** Such as `U+202E`. */
export function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The same as plain text, for the page title and labels. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN_IN_TEXT, nameOf);
}
