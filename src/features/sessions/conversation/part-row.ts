import type { conversationParts, conversations } from "../../../../db/schema/index.ts";
import { CONVERSATION_MAX_BYTES, PART_TEXT_MAX } from "../../../contract/limits.ts";
import type { TurnPart, TurnTool } from "../../../contract/turn.ts";
import type { RuntimePart } from "../../../conversation/runtime-message.ts";
import type { Redact } from "./redact.ts";

/** Who stores a part. */
interface PartWriter {
  sessionId: string;
  /** The locked row of the conversation; its counters are updated. */
  head: typeof conversations.$inferSelect;
  redact: Redact;
}

export type PartRow = typeof conversationParts.$inferInsert & Stored;

/** What is stored of a part already. */
export interface Stored {
  number: number;
  bytes: number;
  isComplete: boolean;
}

/**
 * The row of a part. If the conversation is full, it has the kind and the time only.
 * @param before what is stored of it already
 */
export function partRow(
  { sessionId, head, redact }: PartWriter,
  part: RuntimePart,
  turn: number,
  before: Stored | undefined,
): PartRow {
  const { partId, kind, isComplete, text, tool, file, at } = part;
  const clean = (value: string) => storable(redact(value));
  const whole = {
    text: keptOf(text, redact),
    tool: tool && toolOf(tool, clean),
    file: file && { ...file, name: clean(file.name), type: clean(file.type) },
  };
  const growth = sizeOf(whole) - (before?.bytes ?? 0);
  const isFull = growth > 0 && head.bytes + growth > CONVERSATION_MAX_BYTES;
  const kept = isFull ? { ...whole, text: "", tool: whole.tool && withoutDetails(whole.tool) } : whole;
  return {
    sessionId,
    number: before?.number ?? ++head.lastPart,
    partId,
    turn,
    kind,
    isComplete,
    ...kept,
    isCut: isFull || text.length > PART_TEXT_MAX,
    bytes: sizeOf(kept),
    at: new Date(at),
    version: head.version,
  };
}

function sizeOf({ text, ...more }: Pick<TurnPart, "text" | "tool" | "file">): number {
  const details = Object.values(more).filter((value) => value !== null);
  return (
    Buffer.byteLength(text) +
    details.reduce((sum, value) => sum + Buffer.byteLength(JSON.stringify(value)), 0)
  );
}

function toolOf(
  { tool, title, input, output, error, files, patch }: NonNullable<RuntimePart["tool"]>,
  clean: (text: string) => string,
): TurnTool {
  return {
    name: clean(tool),
    title: clean(title),
    input: input.map(({ name, value }) => ({ name: clean(name), value: clean(value) })),
    output: clean(output),
    error: error === null ? null : clean(error),
    files: files.map((file) => ({ ...file, path: clean(file.path) })),
    patch: clean(patch),
  };
}

function withoutDetails(tool: TurnTool): TurnTool {
  return { ...tool, input: [], output: "", patch: "" };
}

/** What is stored of a text. */
export function keptOf(text: string, redact: Redact): string {
  return storable(redact(text.slice(0, PART_TEXT_MAX)));
}

/** The text without what Postgres does not store: NUL, and half a character. */
export function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}
