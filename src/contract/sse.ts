/** One event of a `text/event-stream` (WHATWG HTML, server-sent events). */
export interface ServerEvent {
  /** `message` when the server names none. */
  type: string;
  data: string;
  /** The last id that was sent, with this event or before; empty when there was none. */
  id: string;
}

/** Characters of one event, or of one line: the longest that a server means to send is a line of a log. */
const EVENT_MAX = 1024 * 1024;

/**
 * Events out of bytes that come in pieces. What the stream ends in the middle of is no event. `retry:` is left to the
 * caller's own pauses.
 * @param failure makes what is thrown for an event of more than a million characters
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
      size += value.length + 1;
      if (size > EVENT_MAX) throw tooLong();
      data.push(value);
    } else if (field === "event") type = value;
    else if (field === "id" && !value.includes("\0")) id = value;
  }
}

/** `field: value`, with one space that may be left out; a comment has the empty field. */
function readField(line: string): { field: string; value: string } {
  const colon = line.indexOf(":");
  if (colon < 0) return { field: line, value: "" };
  return { field: line.slice(0, colon), value: line.slice(colon + (line[colon + 1] === " " ? 2 : 1)) };
}

/** Lines without their ends: CRLF, LF or CR. The last one counts only when it is ended. */
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
