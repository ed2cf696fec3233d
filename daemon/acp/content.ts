import type { Part } from "./messages.ts";

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=-]+)*;base64,([A-Za-z0-9+/=\s]*)$/;

/** A part of a prompt as content blocks of the protocol (Agent Client Protocol 1, Content). */
export function contentOf(part: Part): unknown[] {
  if (part.type === "text") return [{ type: "text", text: part.text }];
  if (part.type !== "file") return [];
  const [, mimeType, data] = DATA_URL.exec(part.url) ?? [];
  if (mimeType === undefined || data === undefined)
    return [{ type: "resource_link", uri: part.url, name: part.filename ?? part.url }];
  if (mimeType.startsWith("image/")) return [{ type: "image", mimeType, data }];
  const uri = `file:///${encodeURIComponent(part.filename ?? "attachment")}`;
  const text = mimeType.startsWith("text/") ? Buffer.from(data, "base64").toString() : null;
  return [
    { type: "resource", resource: text === null ? { uri, mimeType, blob: data } : { uri, mimeType, text } },
  ];
}
