/** What a text says as JSON; null where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A field of what may be an object; undefined where it is none, or has none. */
export function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** A field that may be a string; empty where it is none. */
export function textField(value: unknown, name: string): string {
  const found = field(value, name);
  return typeof found === "string" ? found : "";
}

/** A field that may be a finite number; null where it is none. */
export function numberField(value: unknown, name: string): number | null {
  const found = field(value, name);
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

/** What may be an array; empty where it is none. */
export function arrayOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
