/** A path whose parts come from data: path`/projects/${id}` encodes them. */
export function path(strings: TemplateStringsArray, ...parts: readonly (string | number)[]): string {
  return strings.reduce((text, string, at) => text + encodeURIComponent(parts[at - 1] ?? "") + string);
}
