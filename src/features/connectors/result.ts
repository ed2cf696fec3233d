import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/sdk/types.js";
import type { HttpResult } from "./http.ts";
import { MEDIA_MAX, TEXT_MAX } from "./limits.ts";

const CUT = "\n[svc: the result is cut. Request less of it.]";
const OMITTED = "[svc: an image or a sound is left out, because the result is too large.]";

/** A result of an MCP server, within the limits of a model's context. All but media becomes text. */
export function boundedResult({ content, structuredContent, isError }: CallToolResult): CallToolResult {
  let [text, media] = [TEXT_MAX, MEDIA_MAX];
  const parts: ContentBlock[] = [];
  // repeated in the content, if the server follows the specification
  const shown: readonly unknown[] =
    content.length === 0 && structuredContent !== undefined ? [structuredContent] : content;
  for (const part of shown) {
    if (text <= 0) break;
    if (isMedia(part) && part.data.length <= media) {
      media -= part.data.length;
      parts.push({ type: part.type, data: part.data, mimeType: part.mimeType });
      continue;
    }
    const whole = isMedia(part) ? OMITTED : textOf(part);
    parts.push({ type: "text", text: cut(whole, text) });
    // an empty part has a size, too, so that their number is limited
    text -= whole.length + 1;
  }
  return { content: parts, ...(isError === true && { isError }) };
}

/** The response of an API. */
export function textResult({ isError, text }: HttpResult): CallToolResult {
  return { content: [{ type: "text", text: cut(text, TEXT_MAX) }], ...(isError && { isError }) };
}

function cut(text: string, max: number): string {
  return text.length <= max ? text.toWellFormed() : `${text.slice(0, max).toWellFormed()}${CUT}`;
}

type Media = Extract<ContentBlock, { type: "image" | "audio" }>;

function isMedia(part: unknown): part is Media {
  const type: unknown = Reflect.get(Object(part), "type");
  return (type === "image" || type === "audio") && typeof Reflect.get(Object(part), "data") === "string";
}

function textOf(part: unknown): string {
  const text: unknown =
    Reflect.get(Object(part), "type") === "text" ? Reflect.get(Object(part), "text") : null;
  return typeof text === "string" ? text : JSON.stringify(part);
}
