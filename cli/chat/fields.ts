import { isRecord } from "../config.ts";

/** A field of what may be no object at all. */
export const field = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);

/** Empty where there is no text. */
export function text(value: unknown, name: string): string {
  const found = field(value, name);
  return typeof found === "string" ? found : "";
}

export function number(value: unknown, name: string): number | null {
  const found = field(value, name);
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

export function list(value: unknown, name: string): unknown[] {
  const found = field(value, name);
  return Array.isArray(found) ? found : [];
}
