import { type AttachedFile, attachedFile } from "../contract/attachment.ts";
import { arrayOf, field, numberField, textField } from "../contract/json.ts";
import { type ToolUse, toolOf } from "./tools.ts";

/** The events of the agent runtime's `GET /event` that a chat uses. */
export type RuntimeEvent =
  | { type: "session"; id: string; parentId: string | null }
  | { type: "message"; message: Message }
  | { type: "part"; part: Part }
  /** More of a text. It has no offset. */
  | { type: "delta"; sessionId: string; messageId: string; partId: string; text: string }
  | { type: "status"; sessionId: string; status: Status }
  | { type: "error"; sessionId: string; error: RunError }
  | { type: "asked"; ask: Ask }
  /** `reply`: to a permission request. */
  | { type: "answered"; askId: string; reply: PermissionReply | null };

export type PermissionReply = "once" | "always" | "reject";

export interface Message {
  id: string;
  sessionId: string;
  role: "user" | "assistant";
  /** The prompt that an answer belongs to. */
  parentId: string | null;
  isComplete: boolean;
  /** Why the model stopped: `stop`, `tool-calls`, `length`, …; null while it runs. */
  finish: string | null;
  error: RunError | null;
}

export interface RunError {
  name: string;
  message: string;
}

export type Part = { id: string; sessionId: string; messageId: string } & (
  | { kind: "text"; text: string; isComplete: boolean }
  | { kind: "tool"; use: ToolUse }
  | { kind: "file"; file: AttachedFile }
  /** Thoughts, step markers, and text from svc or the runtime to the model: not shown. */
  | { kind: "hidden" }
);

export type Status =
  | { type: "idle" | "busy" }
  /** `at`: milliseconds since 1970. */
  | { type: "retry"; attempt: number; message: string; at: number | null };

/** A permission request or a question that the agent waits on. */
export type Ask = {
  id: string;
  sessionId: string;
  /** The use of a tool that asks, if it is one. */
  tool?: { messageId: string; callId: string };
} & (
  | { kind: "permission"; permission: string; patterns: string[] }
  | { kind: "question"; questions: Question[] }
);

export interface Question {
  question: string;
  options: { label: string; description: string }[];
  multiple: boolean;
  /** Whether free text is accepted as an answer. */
  custom: boolean;
}

/** Parses an event of the stream; null if it is invalid or a chat does not use it. */
export function readRuntimeEvent(value: unknown): RuntimeEvent | null {
  const properties = field(value, "properties");
  const sessionId = textField(properties, "sessionID");
  switch (textField(value, "type")) {
    case "session.created":
    case "session.updated":
      return sessionOf(field(properties, "info"));
    case "message.updated": {
      const message = messageOf(field(properties, "info"));
      return message && { type: "message", message };
    }
    case "message.part.updated": {
      const part = partOf(field(properties, "part"));
      return part && { type: "part", part };
    }
    case "message.part.delta": {
      const delta = textField(properties, "delta");
      if (textField(properties, "field") !== "text" || delta === "") return null;
      const [messageId, partId] = [textField(properties, "messageID"), textField(properties, "partID")];
      return messageId === "" || partId === ""
        ? null
        : { type: "delta", sessionId, messageId, partId, text: delta };
    }
    case "session.status":
      return { type: "status", sessionId, status: statusOf(field(properties, "status")) };
    case "session.idle":
      return { type: "status", sessionId, status: { type: "idle" } };
    case "session.error": {
      const error = errorOf(field(properties, "error"));
      return error && { type: "error", sessionId, error };
    }
    case "permission.asked":
    case "question.asked": {
      const ask = askOf(properties);
      return ask && { type: "asked", ask };
    }
    case "permission.replied":
    case "question.replied":
    case "question.rejected":
      return {
        type: "answered",
        askId: textField(properties, "requestID"),
        reply: replyOf(textField(properties, "reply")),
      };
  }
  return null;
}

function replyOf(reply: string): PermissionReply | null {
  return reply === "once" || reply === "always" || reply === "reject" ? reply : null;
}

function sessionOf(info: unknown): RuntimeEvent | null {
  const id = textField(info, "id");
  return id === "" ? null : { type: "session", id, parentId: textField(info, "parentID") || null };
}

export function messageOf(info: unknown): Message | null {
  const [id, role] = [textField(info, "id"), textField(info, "role")];
  if (id === "" || (role !== "user" && role !== "assistant")) return null;
  return {
    id,
    sessionId: textField(info, "sessionID"),
    role,
    parentId: textField(info, "parentID") || null,
    isComplete: typeof field(field(info, "time"), "completed") === "number",
    finish: textField(info, "finish") || null,
    error: errorOf(field(info, "error")),
  };
}

export function partOf(part: unknown): Part | null {
  const [id, messageId] = [textField(part, "id"), textField(part, "messageID")];
  if (id === "" || messageId === "") return null;
  const base = { id, messageId, sessionId: textField(part, "sessionID") };
  const kind = textField(part, "type");
  if (kind === "tool") {
    const use = toolOf(part);
    return use ? { ...base, kind, use } : { ...base, kind: "hidden" };
  }
  const file = kind === "file" ? fileOf(part) : null;
  if (file) return { ...base, kind: "file", file };
  const isForModel = field(part, "synthetic") === true || field(part, "ignored") === true;
  if (kind !== "text" || isForModel) return { ...base, kind: "hidden" };
  const isComplete = typeof field(field(part, "time"), "end") === "number";
  return { ...base, kind, text: textField(part, "text"), isComplete };
}

/** Parses a file of a message; null if it is invalid. */
export function fileOf(part: unknown): AttachedFile | null {
  const [mime, filename, url] = [
    textField(part, "mime"),
    textField(part, "filename"),
    textField(part, "url"),
  ];
  return attachedFile({ mime, filename, url });
}

/** Parses the status of an event or of `GET /session/status`. That map has no entry for an idle session. */
export function statusOf(status: unknown): Status {
  const type = textField(status, "type");
  if (type !== "retry") return { type: type === "busy" ? "busy" : "idle" };
  return {
    type,
    attempt: numberField(status, "attempt") ?? 1,
    message: textField(status, "message"),
    at: numberField(status, "next"),
  };
}

/** Parses an item of an event, `GET /permission` or `GET /question`. */
export function askOf(value: unknown): Ask | null {
  const [id, sessionId] = [textField(value, "id"), textField(value, "sessionID")];
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(id)) return null;
  const tool = field(value, "tool");
  const [messageId, callId] = [textField(tool, "messageID"), textField(tool, "callID")];
  const base = { id, sessionId, ...(messageId !== "" && callId !== "" && { tool: { messageId, callId } }) };
  const questions = field(value, "questions");
  if (Array.isArray(questions)) return { ...base, kind: "question", questions: questions.map(questionOf) };
  const permission = textField(value, "permission");
  if (permission === "") return null;
  const patterns = arrayOf(field(value, "patterns")).filter((each) => typeof each === "string");
  return { ...base, kind: "permission", permission, patterns };
}

export function questionOf(value: unknown): Question {
  return {
    question: textField(value, "question"),
    options: arrayOf(field(value, "options")).map((option) => ({
      label: textField(option, "label"),
      description: textField(option, "description"),
    })),
    multiple: field(value, "multiple") === true,
    custom: field(value, "custom") !== false,
  };
}

/** Parses an error of a message or an event; null if there is none. */
export function errorOf(error: unknown): RunError | null {
  if (typeof error !== "object" || error === null) return null;
  const name = textField(error, "name") || "Error";
  // an unexpected error of the runtime carries a stack trace: keep its first line
  const [message = ""] = (
    textField(field(error, "data"), "message") ||
    textField(error, "message") ||
    name
  ).split("\n");
  return { name, message };
}
