const PATH = "[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*";

/** A place in a template, `{{ dotted.path }}`; its first group is the path. */
export const PLACE = new RegExp(`\\{\\{\\s*(${PATH})\\s*\\}\\}`, "g");
/** What stands in double braces, a place or not. */
const BRACED = /\{\{[^{}]*\}\}/g;
const WHOLE = new RegExp(`^${PLACE.source}$`);

/** The line, from 1, in which a `{{` stands that is not closed before the next; null: there is none. */
export function openBraces(template: string): number | null {
  const parts = template.split("{{");
  const open = parts.findIndex((part, index) => index > 0 && !part.includes("}}"));
  return open < 0 ? null : parts.slice(0, open).join("").split("\n").length;
}

/** The first thing in double braces that is no place, and so stays as it is; null: there is none. */
export function strayBraces(template: string): { text: string; line: number } | null {
  for (const { 0: text, index } of template.matchAll(BRACED)) {
    if (!WHOLE.test(text)) return { text, line: template.slice(0, index).split("\n").length };
  }
  return null;
}
