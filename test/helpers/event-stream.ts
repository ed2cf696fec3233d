import type { ProjectEvent, StreamEvent } from "../../src/contract/event.ts";
import { until } from "./until.ts";

/** An entry of a project's event stream. */
export interface StreamEntry {
  id: string;
  event: ProjectEvent | StreamEvent;
}

/** A client of a project's event stream, with its own connection. */
export interface EventStream {
  entries: StreamEntry[];
  /** The events, without those about the stream itself. */
  events(): ProjectEvent[];
  /** Number of comments, which keep the stream alive. */
  comments(): number;
  /** Resolves when the stream has ended or failed. */
  ended: Promise<void>;
  /** Waits for a matching event. */
  waitFor(what: string, isIt: (event: ProjectEvent) => boolean): Promise<void>;
  lastId(): string;
  close(): Promise<void>;
}

export async function followEvents(
  url: string,
  token: string,
  projectId: string,
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const response = await fetch(`${url}/v1/projects/${projectId}/events`, {
    headers: { Authorization: `Bearer ${token}`, ...headers },
  });
  if (response.status !== 200 || !response.body)
    throw new Error(`no events: ${response.status} ${await response.text()}`);
  const stream = readStream(response.body);
  await until("the stream begins", () => stream.entries.length > 0);
  return stream;
}

/** Reads `text/event-stream` incrementally. */
export function readStream(body: ReadableStream<Uint8Array>): EventStream {
  const reader = body.getReader();
  const entries: StreamEntry[] = [];
  let comments = 0;
  const ended = read().catch(() => {});
  const events = () => entries.flatMap(({ event }) => ("seq" in event ? [] : event));
  return {
    entries,
    events,
    comments: () => comments,
    ended,
    waitFor: (what, isIt) =>
      until(
        () => `${what}; received: ${JSON.stringify(entries.slice(-20))}`,
        () => events().some(isIt),
      ),
    lastId: () => entries.findLast(({ id }) => id !== "")?.id ?? "",
    async close() {
      await reader.cancel().catch(() => {});
      await ended;
    },
  };

  async function read(): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for (let got = await reader.read(); !got.done; got = await reader.read()) {
      text += decoder.decode(got.value, { stream: true });
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data === undefined) comments++;
        else entries.push({ id: /^id: (.*)$/m.exec(block)?.[1] ?? "", event: JSON.parse(data) });
      }
    }
  }
}
