/** An event of a stream that is longer is not looked into: it has no usage. */
const EVENT_MAX_BYTES = 8 * 1024 * 1024;

/** Splits a stream of server-sent events into its events, each with the blank line that ends it. */
export interface EventSplitter {
  /** @returns the bytes of complete events; a longer one comes in pieces */
  push(chunk: Uint8Array): Buffer[];
  /** What is left at the end of the stream. */
  rest(): Buffer;
}

export function createEventSplitter(): EventSplitter {
  let pending: Buffer = Buffer.alloc(0);
  /** Where the search for the end continues. */
  let searched = 0;
  return {
    push(chunk) {
      pending = pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([pending, chunk]);
      const events: Buffer[] = [];
      for (;;) {
        const end = endOfEvent(pending, searched);
        if (end < 0) break;
        events.push(pending.subarray(0, end));
        pending = pending.subarray(end);
        searched = 0;
      }
      if (pending.length > EVENT_MAX_BYTES) {
        events.push(pending);
        pending = Buffer.alloc(0);
      }
      searched = Math.max(pending.length - 3, 0);
      return events;
    },
    rest: () => pending,
  };
}

/** The index behind the first blank line; -1 if there is none. */
function endOfEvent(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0x0a, from); at >= 0; at = bytes.indexOf(0x0a, at + 1)) {
    if (bytes[at + 1] === 0x0a) return at + 2;
    if (bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a) return at + 3;
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
