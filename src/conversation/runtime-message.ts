import type { AttachedFile } from "../contract/attachment.ts";
import { field, numberField, textField } from "../contract/json.ts";
import { explainRun } from "../contract/runtime.ts";
import type { PartKind, TurnPlan } from "../contract/turn.ts";
import type { TokensUsed } from "../contract/usage.ts";
import { planOf } from "./plan.ts";
import { permissionOf, questionsOf, type RuntimeRequest } from "./request.ts";
import { type Ask, errorOf, fileOf, type PermissionReply, type RunError } from "./runtime-event.ts";
import { type ToolUse, toolOf } from "./tools.ts";

/** An id of the runtime; a longer one is not its own. */
export const RUNTIME_ID = /^[A-Za-z0-9_-]{1,128}$/;
/** One line of bounded length. */
const ERROR_MAX = 500;

/** A message of the runtime (opencode 1.18). The times are milliseconds since 1970 by the sandbox's clock. */
export interface Message {
  id: string;
  /** The id of the prompt's message. */
  turnId: string;
  /** The use of a tool that started the subagent whose message this is. */
  parentId: string | null;
  isUser: boolean;
  /** Whether it shortens the conversation for the model. */
  isSummary: boolean;
  isComplete: boolean;
  finish: string;
  error: RunError | null;
  model: string | null;
  tokens: TokensUsed | null;
  cost: number | null;
  createdAt: number;
  completedAt: number | null;
}

/** A piece of a turn as the runtime has it. */
export interface RuntimePart {
  partId: string;
  turnId: string;
  /** The use of a tool whose subagent did this. */
  parentId: string | null;
  kind: PartKind;
  isComplete: boolean;
  text: string;
  /** Whether the beginning of the text may be missing: what is stored of it stays. */
  mayLack: boolean;
  tool: ToolUse | null;
  plan: TurnPlan | null;
  request: RuntimeRequest | null;
  /** A tool that failed, or a request that was rejected. */
  hasFailed: boolean;
  file: AttachedFile | null;
  at: number;
}

/** Whether parts of this kind are only text, and grow. */
export const isText = (kind: PartKind): boolean => ["prompt", "text", "reasoning"].includes(kind);

/** The use of a tool that started a subagent, and its turn. */
export interface Subagent {
  partId: string;
  turnId: string;
}

/**
 * Parses a message; null if it is invalid.
 * @param subagent whose message it is; null: the conversation's own
 */
export function messageOf(info: unknown, subagent: Subagent | null): Message | null {
  const [id, role, prompt] = [textField(info, "id"), textField(info, "role"), textField(info, "parentID")];
  if (!RUNTIME_ID.test(id)) return null;
  const isUser = role === "user";
  if (!isUser && (role !== "assistant" || !RUNTIME_ID.test(prompt))) return null;
  const time = field(info, "time");
  const completedAt = numberField(time, "completed");
  const [provider, model] = [textField(info, "providerID"), textField(info, "modelID")];
  return {
    id,
    turnId: subagent?.turnId ?? (isUser ? id : prompt),
    parentId: subagent?.partId ?? null,
    isUser,
    isSummary: !isUser && field(info, "summary") === true,
    isComplete: isUser || completedAt !== null,
    finish: textField(info, "finish"),
    error: isUser ? null : errorOf(field(info, "error")),
    model: provider === "" || model === "" ? null : `${provider}/${model}`,
    tokens: tokensOf(field(info, "tokens")),
    // 0: the runtime does not know the model's price
    cost: isUser ? null : numberField(info, "cost") || null,
    createdAt: timeOf(numberField(time, "created")),
    completedAt: completedAt === null ? null : timeOf(completedAt),
  };
}

/**
 * Parses a part; null if it is not one that people read.
 * @param mayLack whether the beginning of a text under way may be missing
 */
export function partOf(part: unknown, message: Message, mayLack: boolean): RuntimePart | null {
  const type = textField(part, "type");
  const caller = textField(part, "subagentOf");
  // the prompt of a subagent is in the input of the tool that started it; no person wrote that after a compaction
  if (message.isUser && message.turnId !== message.id) return null;
  const time = field(part, "time");
  const base = {
    partId: textField(part, "id"),
    turnId: message.turnId,
    // the adapter of other agents has the parts of subagents in their caller's message
    parentId: message.parentId ?? (RUNTIME_ID.test(caller) ? caller : null),
    text: "",
    mayLack: false,
    tool: null,
    file: null,
    plan: null,
    request: null,
    hasFailed: false,
    at: timeOf(
      numberField(time, "start") ??
        numberField(field(field(part, "state"), "time"), "start") ??
        message.createdAt,
    ),
  };
  if (type === "tool") {
    const tool = toolOf(part);
    if (!tool || message.isUser) return null;
    const isComplete = tool.state === "completed" || tool.state === "error";
    const state = { isComplete, hasFailed: tool.state === "error" };
    const request = questionsOf(part);
    if (request) return { ...base, ...state, kind: "question", request };
    const plan = state.hasFailed ? null : planOf(tool.tool, field(field(part, "state"), "input"));
    if (plan) return { ...base, ...state, kind: "plan", plan };
    return { ...base, ...state, kind: "tool", tool };
  }
  if (type === "file") {
    const file = fileOf(part);
    return file && message.isUser ? { ...base, kind: "file", file, isComplete: true } : null;
  }
  const isForModel = field(part, "synthetic") === true || field(part, "ignored") === true;
  if ((type !== "text" && type !== "reasoning") || isForModel) return null;
  if (message.isUser && type === "reasoning") return null;
  const isComplete = message.isComplete || numberField(time, "end") !== null;
  const written = message.isSummary ? "reasoning" : type;
  return {
    ...base,
    kind: message.isUser ? "prompt" : written,
    text: textField(part, "text"),
    isComplete,
    mayLack: mayLack && !isComplete,
  };
}

/** A permission request. The runtime does not report its time: it gets that of the message that uses the tool. */
export interface PermissionAsked {
  ask: Extract<Ask, { kind: "permission" }>;
  turnId: string;
  at: number;
}

/** @param answer null while it is open */
export function permissionPart(
  { ask, turnId, at }: PermissionAsked,
  answer: { reply: PermissionReply | null } | null,
): RuntimePart {
  const reply = answer?.reply ?? null;
  return {
    partId: ask.id,
    turnId,
    parentId: null,
    kind: "permission",
    isComplete: answer !== null,
    text: "",
    mayLack: false,
    tool: null,
    file: null,
    plan: null,
    request: permissionOf(ask, reply),
    hasFailed: reply === "reject",
    at,
  };
}

/** What happened, for a person, on one line of bounded length. */
export function sentenceOf({ message }: RunError): string {
  return explainRun(message).trim().slice(0, ERROR_MAX) || "The agent runtime gave no reason.";
}

function tokensOf(tokens: unknown): TokensUsed | null {
  const [input, output] = [numberField(tokens, "input"), numberField(tokens, "output")];
  if (input === null || output === null) return null;
  const cached = numberField(field(tokens, "cache"), "read") ?? 0;
  // the runtime counts cached tokens, and those of thoughts, apart
  const thought = numberField(tokens, "reasoning") ?? 0;
  const [all, written] = [input + cached, output + thought].map(countOf);
  return { input: all ?? 0, output: written ?? 0, cached: countOf(cached) };
}

const countOf = (tokens: number): number =>
  Math.max(0, Math.min(Math.floor(tokens), Number.MAX_SAFE_INTEGER));

/** A time that a `Date` can have: sandboxes are not trusted. */
export function timeOf(ms: number | null): number {
  return ms !== null && ms >= 0 && ms <= TIME_MAX ? ms : 0;
}

/** The end of the year 9999. */
const TIME_MAX = 253_402_300_799_999;
