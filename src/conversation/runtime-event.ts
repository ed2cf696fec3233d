import { type AttachedFile, attachedFile } from "../contract/attachment.ts";
import { arrayOf, field, numberField, textField } from "../contract/json.ts";

/** The events of the agent runtime's `GET /event` that say what the agent does and waits for. */
export type RuntimeEvent =
  | { type: "status"; sessionId: string; status: Status }
  | { type: "asked"; ask: Ask }
  /** `reply`: to a permission request. */
  | { type: "answered"; askId: string; reply: PermissionReply | null };

export type PermissionReply = "once" | "always" | "reject";

export interface RunError {
  name: string;
  message: string;
}

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

/** Parses an event of the stream; null if it is invalid or another one. */
export function readRuntimeEvent(value: unknown): RuntimeEvent | null {
  const properties = field(value, "properties");
  const sessionId = textField(properties, "sessionID");
  switch (textField(value, "type")) {
    case "session.status":
      return { type: "status", sessionId, status: statusOf(field(properties, "status")) };
    case "session.idle":
      return { type: "status", sessionId, status: { type: "idle" } };
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
