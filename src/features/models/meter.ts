import { arrayOf, field, isObject, parseJson, textField } from "../../contract/json.ts";
import type { TokensUsed } from "../../contract/usage.ts";
import { countEvents, createEventSplitter, dataOf, splitEvents } from "./events.ts";
import type { ModelRoute } from "./paths.ts";
import { membersOf } from "./request-body.ts";
import { mergeUsage, usageOf } from "./usage-of.ts";

/** Measures a response while it passes. */
export interface Meter {
  /** What the upstream has reported so far. */
  usage: TokensUsed | null;
  /** Whether the report is the last one. */
  isFinal: boolean;
  /** An estimate of the output's tokens so far. */
  estimatedOutput: number;
  /** @returns the pieces for the client, the last one of which may end the response */
  push(chunk: Uint8Array): Uint8Array[];
  /** The upstream has sent everything. @returns the pieces for the client that are left */
  end(): Uint8Array[];
}

/** A longer response is passed on, but not measured: embeddings of the largest batches have a tenth of this. */
const WHOLE_MAX_BYTES = 64 * 1024 * 1024;
const BYTES_PER_TOKEN = 4;

/** Measures a response that is one JSON value. The end is held back until its usage is known. */
export function meterWhole(): Meter {
  let parts: Uint8Array[] = [];
  let size = 0;
  const meter: Meter = {
    usage: null,
    isFinal: false,
    estimatedOutput: 0,
    push(chunk) {
      size += chunk.byteLength;
      meter.estimatedOutput = Math.ceil(size / BYTES_PER_TOKEN);
      if (size <= WHOLE_MAX_BYTES) {
        parts.push(chunk);
        return [];
      }
      const held = parts;
      parts = [];
      return [...held, chunk];
    },
    end() {
      const whole = Buffer.concat(parts);
      meter.usage = usageOf(parseJson(whole.toString("utf8")));
      meter.isFinal = meter.usage !== null;
      return whole.byteLength > 0 ? [whole] : [];
    },
  };
  return meter;
}

const USAGE = Buffer.from('"usage"');
/** The end of an event whose last member says that the usage is not known yet, as OpenAI's do. */
const NO_USAGE = Buffer.from(',"usage":null}\n\n');
const AFTER_NO_USAGE = Buffer.from("}\n\n");
const DONE = "[DONE]";
const LAST_OF_RESPONSES = ["response.completed", "response.incomplete", "response.failed"];
/** Of the events that end a stream, the `type` in their data, or the data itself. */
const LAST = new Set([DONE, "message_stop", ...LAST_OF_RESPONSES]);
/** Those that may follow the event with the usage: only these are looked for in events without a usage. */
const LAST_BYTES = { chat: Buffer.from(DONE), messages: Buffer.from("message_stop") } as const;

/**
 * Measures a stream of events. Events are looked into only if their bytes contain `"usage"`, or the end after it: the others
 * pass as they come, without being separated.
 * @param hides removes the usage that svc has asked for and the client has not
 */
export function meterStream({ hides, kind }: { hides: boolean; kind: ModelRoute["kind"] }): Meter {
  const splitter = createEventSplitter();
  const last = kind === "chat" || kind === "messages" ? LAST_BYTES[kind] : null;
  const meter: Meter = {
    usage: null,
    isFinal: false,
    estimatedOutput: 0,
    push(chunk) {
      const events = splitter.push(chunk);
      return events ? look(events) : [];
    },
    end() {
      const rest = splitter.rest();
      const pieces = rest.byteLength > 0 ? look(rest) : [];
      // a stream of chat may end without an event that says so
      if (kind === "chat" && meter.usage !== null) meter.isFinal = true;
      return pieces;
    },
  };
  return meter;

  function look(events: Buffer): Uint8Array[] {
    const isPlain = !events.includes(USAGE) && (meter.usage === null || !last || !events.includes(last));
    if (isPlain) {
      meter.estimatedOutput += countEvents(events);
      return [events];
    }
    return splitEvents(events).flatMap((event) => lookInto(event));
  }

  /** @returns the event as the client gets it; nothing for one that is hidden */
  function lookInto(event: Buffer): Uint8Array[] {
    meter.estimatedOutput++;
    const at = event.indexOf(USAGE);
    if (at >= 0 && at === event.length - NO_USAGE.length + 1 && event.subarray(at - 1).equals(NO_USAGE))
      return hides ? [event.subarray(0, at - 1), AFTER_NO_USAGE] : [event];
    const data = dataOf(event);
    if (data === null) return [event];
    const body = data === DONE ? null : parseJson(data);
    const usage = usageOf(body);
    if (usage) meter.usage = mergeUsage(meter.usage, usage);
    if (data === DONE || LAST.has(textField(body, "type"))) meter.isFinal = meter.usage !== null;
    return hides ? withoutUsage(event, body) : [event];
  }
}

/** Removes the chunk that contains only the usage, and `"usage": null` from the others (OpenAI: stream_options). */
function withoutUsage(event: Buffer, body: unknown): Uint8Array[] {
  if (!isObject(body) || !("usage" in body)) return [event];
  if (body["usage"] !== null) return arrayOf(field(body, "choices")).length === 0 ? [] : [event];
  const start = event.indexOf(0x7b);
  const object = event.subarray(start);
  const members = membersOf(object);
  const index = members.findIndex(({ key }) => key === "usage");
  const [usage, before, after] = [members[index], members[index - 1], members[index + 1]];
  if (!usage || (!before && !after)) return [event];
  // with the comma before it, or, as the first member, up to the next one's key
  const from = before ? before.end : object.indexOf(0x7b) + 1;
  const to = before ? usage.end : object.indexOf(0x2c, usage.end) + 1;
  return [event.subarray(0, start), object.subarray(0, from), object.subarray(to)];
}
