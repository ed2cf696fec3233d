import { WEBHOOK_LIST_MAX, WEBHOOK_TEXT_MAX } from "../../contract/webhook.ts";

/**
 * A copy of an event's data in which long texts and lists are cut.
 * @returns `truncated`: the paths of what was cut, such as `change_request.description`
 */
export function bounded(data: Record<string, unknown>): {
  value: Record<string, unknown>;
  truncated: string[];
} {
  const truncated: string[] = [];
  const value = Object.fromEntries(
    Object.entries(data).map(([key, part]) => [key, cut(part, key, truncated)] as const),
  );
  return { value, truncated: truncated.slice(0, WEBHOOK_LIST_MAX) };
}

function cut(value: unknown, path: string, truncated: string[]): unknown {
  if (typeof value === "string") {
    if (value.length <= WEBHOOK_TEXT_MAX) return value;
    truncated.push(path);
    // a surrogate pair is not split
    return `${value
      .slice(0, WEBHOOK_TEXT_MAX - 1)
      .toWellFormed()
      .replace(/\ufffd$/, "")}…`;
  }
  if (Array.isArray(value)) {
    if (value.length > WEBHOOK_LIST_MAX) truncated.push(path);
    return value.slice(0, WEBHOOK_LIST_MAX).map((part, at) => cut(part, `${path}.${at}`, truncated));
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, cut(part, `${path}.${key}`, truncated)] as const),
  );
}
