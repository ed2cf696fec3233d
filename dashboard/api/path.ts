/** Encodes the values in a path: path`/projects/${id}`. */
export function path(strings: TemplateStringsArray, ...parts: readonly (string | number)[]): string {
  return strings.reduce((text, string, at) => text + encodeURIComponent(parts[at - 1] ?? "") + string);
}
