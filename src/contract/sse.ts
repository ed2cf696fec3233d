import { PROMPT_BODY_MAX_BYTES } from "./limits.ts";

/** One event of a `text/event-stream` (WHATWG HTML, server-sent events). */
export interface ServerEvent {
  /** `message` by default. */
  type: string;
  data: string;
  /** The last id, of this event or an earlier one; empty if there was none. */
  id: string;
}

/** Characters of one event or line. The longest is an attachment of a prompt, as the agent runtime repeats it. */
const EVENT_MAX = PROMPT_BODY_MAX_BYTES;

/**
 * Parses events from a stream of bytes. Drops an incomplete event at the end. Ignores `retry:`, because callers have their
 * own backoff.
 * @param failure creates the error for an event that is too long
 */
export async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
  failure: (what: string) => Error = (what) => new RangeError(what),
): AsyncGenerator<ServerEvent> {
  const tooLong = () => failure(`an event of more than ${EVENT_MAX} characters`);
  let id = "";
  let type = "";
  let data: string[] = [];
  let size = 0;
  for await (const line of eachLine(chunks, tooLong)) {
    if (line === "") {
      if (data.length > 0) yield { type: type || "message", data: data.join("\n"), id };
      type = "";
      data = [];
      size = 0;
      continue;
    }
    const { field, value } = readField(line);
    if (field === "data") {
      size += line.length + 1;
      if (size > EVENT_MAX) throw tooLong();
      data.push(value);
    } else if (field === "event") type = value;
    else if (field === "id" && !value.includes("\0")) id = value;
  }
}

/** Parses `field: value`; the space is optional, and a comment has an empty field. */
function readField(line: string): { field: string; value: string } {
  const colon = line.indexOf(":");
  if (colon < 0) return { field: line, value: "" };
  return { field: line.slice(0, colon), value: line.slice(colon + (line[colon + 1] === " " ? 2 : 1)) };
}

/** Splits lines at CRLF, LF or CR. Drops an incomplete last line. */
async function* eachLine(chunks: AsyncIterable<Uint8Array>, tooLong: () => Error): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let endedByReturn = false;
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true });
    if (text === "") continue;
    if (endedByReturn && text.startsWith("\n")) text = text.slice(1);
    endedByReturn = text.endsWith("\r");
    const [first = "", ...more] = text.split(/\r\n|\n|\r/);
    rest += first;
    for (const next of more) {
      yield rest;
      rest = next;
    }
    if (rest.length > EVENT_MAX) throw tooLong();
  }
}
