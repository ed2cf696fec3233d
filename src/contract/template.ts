const PATH = "[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*";

/** A placeholder in a template, `{{ dotted.path }}`; its first group is the path. */
export const PLACEHOLDER = new RegExp(`\\{\\{\\s*(${PATH})\\s*\\}\\}`, "g");
/** Text in double braces, valid placeholder or not. */
const BRACED = /\{\{[^{}]*\}\}/g;
const WHOLE = new RegExp(`^${PLACEHOLDER.source}$`);

/** The line, from 1, of the first `{{` that is not closed before the next one; null: there is none. */
export function openBraces(template: string): number | null {
  const parts = template.split("{{");
  const open = parts.findIndex((part, index) => index > 0 && !part.includes("}}"));
  return open < 0 ? null : parts.slice(0, open).join("").split("\n").length;
}

/** The first text in double braces that is not a valid placeholder; null: there is none. */
export function strayBraces(template: string): { text: string; line: number } | null {
  for (const { 0: text, index } of template.matchAll(BRACED)) {
    if (!WHOLE.test(text)) return { text, line: template.slice(0, index).split("\n").length };
  }
  return null;
}
