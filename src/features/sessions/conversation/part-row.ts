import type { conversationParts, conversations } from "../../../../db/schema/index.ts";
import type { AttachedFile } from "../../../contract/attachment.ts";
import { CONVERSATION_MAX_BYTES, PART_TEXT_MAX } from "../../../contract/limits.ts";
import type { TurnPlan, TurnTool } from "../../../contract/turn.ts";
import type { RuntimeRequest } from "../../../conversation/request.ts";
import type { RuntimePart } from "../../../conversation/runtime-message.ts";
import type { Redact } from "./redact.ts";
import { storedText } from "./stored-text.ts";

/** Who stores a part. */
interface PartWriter {
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
  { head, redact }: PartWriter,
  part: RuntimePart,
  turn: number,
  before: Stored | undefined,
): PartRow {
  const { partId, parentId, kind, isComplete, hasFailed, text, tool, file, plan, request, at } = part;
  const clean = (value: string) => storable(redact(value));
  const whole: Content = {
    text: keptOf(text, redact),
    tool: tool && toolOf(tool, clean),
    file: file && { ...file, name: clean(file.name), type: clean(file.type) },
    plan: plan?.map((step) => ({ ...step, text: clean(step.text) })) ?? null,
    request: request && requestOf(request, clean),
  };
  const growth = sizeOf(whole) - (before?.bytes ?? 0);
  const isFull = growth > 0 && head.bytes + growth > CONVERSATION_MAX_BYTES;
  const kept = isFull ? emptyOf(whole) : whole;
  const { text: keptText, ...details } = kept;
  return {
    conversation: head.id,
    number: before?.number ?? ++head.lastPart,
    partId,
    turn,
    parentId,
    kind,
    isComplete,
    ...storedText(keptText),
    ...details,
    isRejected: hasFailed && request !== null,
    isCut: isFull || text.length > PART_TEXT_MAX,
    bytes: sizeOf(kept),
    at: new Date(at),
    version: head.version,
  };
}

/** What a part says. */
interface Content {
  text: string;
  tool: TurnTool | null;
  file: AttachedFile | null;
  plan: TurnPlan | null;
  request: RuntimeRequest | null;
}

function sizeOf({ text, ...details }: Content): number {
  const found = Object.values(details).filter((value) => value !== null);
  return found.reduce(
    (sum, value) => sum + Buffer.byteLength(JSON.stringify(value)),
    Buffer.byteLength(text),
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

function requestOf(request: RuntimeRequest, clean: (text: string) => string): RuntimeRequest {
  return {
    ...request,
    request_id: clean(request.request_id),
    permission: request.permission === null ? null : clean(request.permission),
    patterns: request.patterns.map(clean),
    questions: request.questions.map(({ question, options, answers }) => ({
      question: clean(question),
      options: options.map(({ label, description }) => ({
        label: clean(label),
        description: clean(description),
      })),
      answers: answers.map(clean),
    })),
  };
}

/** What is kept of a part in a conversation that is full. */
function emptyOf({ tool, file, plan, request }: Content): Content {
  return {
    text: "",
    tool: tool && { ...tool, input: [], output: "", patch: "" },
    file,
    plan: plan && [],
    request: request && { ...request, patterns: [], questions: [] },
  };
}

/** What is stored of a text. */
export function keptOf(text: string, redact: Redact): string {
  return storable(redact(text.slice(0, PART_TEXT_MAX)));
}

/** The text without what Postgres does not store: NUL, and half a character. */
export function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}
