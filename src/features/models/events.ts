/** An event of a stream that is longer is not looked into: it has no usage. */
const EVENT_MAX_BYTES = 8 * 1024 * 1024;

/** Cuts a stream of server-sent events between events. */
export interface EventSplitter {
  /** @returns the complete events, each with the blank line that ends it; null if there are none. A long one comes in pieces. */
  push(chunk: Uint8Array): Buffer | null;
  /** What is left at the end of the stream. */
  rest(): Buffer;
}

export function createEventSplitter(): EventSplitter {
  let pending: Buffer = NOTHING;
  return {
    push(chunk) {
      const searched = Math.max(pending.length - 3, 0);
      const added = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const bytes = pending.length === 0 ? added : Buffer.concat([pending, added]);
      const end = bytes.length > EVENT_MAX_BYTES ? bytes.length : endOfEvents(bytes, searched);
      pending = end === bytes.length ? NOTHING : bytes.subarray(Math.max(end, 0));
      return end > 0 ? bytes.subarray(0, end) : null;
    },
    rest: () => pending,
  };
}

const NOTHING: Buffer = Buffer.alloc(0);
const [LF, CR] = [0x0a, 0x0d];

/** The index behind the last blank line; -1 if there is none behind `from`. */
function endOfEvents(bytes: Buffer, from: number): number {
  for (let at = bytes.lastIndexOf(LF); at > from; at = bytes.lastIndexOf(LF, at - 1)) {
    const before = bytes[at - 1] === CR ? at - 2 : at - 1;
    if (bytes[before] === LF) return at + 1;
  }
  return -1;
}

/** Splits complete events. */
export function splitEvents(bytes: Buffer): Buffer[] {
  const events: Buffer[] = [];
  let from = 0;
  while (from < bytes.length) {
    const end = endOfEvent(bytes, from);
    const to = end < 0 ? bytes.length : end;
    events.push(bytes.subarray(from, to));
    from = to;
  }
  return events;
}

/** The number of complete events; an estimate for lines that end with CRLF. */
export function countEvents(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(BLANK); at >= 0; at = bytes.indexOf(BLANK, at + BLANK.length)) count++;
  return Math.max(count, 1);
}

const BLANK = Buffer.from("\n\n");

/** The index behind the first blank line; -1 if there is none. */
function endOfEvent(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}

/** The data of an event (HTML: Server-sent events); null without any. */
export function dataOf(event: Buffer): string | null {
  const lines = event
    .toString("utf8")
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(line.startsWith("data: ") ? 6 : 5));
  return lines.length > 0 ? lines.join("\n") : null;
}
