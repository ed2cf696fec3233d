import { newMessageId } from "../../src/contract/message-id.ts";

/** A message in the format of the runtime's HTTP API (opencode 1.18). The times are milliseconds since 1970. */
export interface MessageInfo {
  id: string;
  sessionID: string;
  role: "user" | "assistant";
  /** The prompt that an answer belongs to. */
  parentID?: string;
  time: { created: number; completed?: number };
  providerID?: string;
  modelID?: string;
  /** Why the model stopped. */
  finish?: string;
  error?: { name: string; data: { message: string } };
  tokens?: Tokens;
  /** In US dollars. */
  cost?: number;
}

export interface Tokens {
  input: number;
  output: number;
  reasoning: number;
  cache: { read: number; write: number };
}

export interface ToolState {
  status: "pending" | "running" | "completed" | "error";
  input: Record<string, unknown>;
  title: string;
  output: string;
  error?: string;
  metadata: { diff?: string; files?: FileChange[]; answers?: string[][] };
  time: { start: number; end?: number };
}

export interface FileChange {
  relativePath: string;
  additions: number;
  deletions: number;
}

export interface PartBase {
  id: string;
  sessionID: string;
  messageID: string;
  /** The part of the tool whose subagent did this. */
  subagentOf?: string;
}

export type TextPart = PartBase & {
  type: "text" | "reasoning";
  text: string;
  /** Only for the agent. */
  synthetic?: true;
  time: { start: number; end?: number };
};
export type ToolPart = PartBase & { type: "tool"; callID: string; tool: string; state: ToolState };
/** What a client sent with a prompt, for example an image. */
export type FilePart = PartBase & { type: "file"; mime: string; url: string; filename?: string };
export type Part = TextPart | ToolPart | FilePart;
/** A part of a prompt as a client sends it. */
export type PromptPart =
  | Pick<TextPart & { type: "text" }, "type" | "text" | "synthetic">
  | Pick<FilePart, "type" | "mime" | "url" | "filename">;

export interface Message {
  info: MessageInfo;
  parts: Part[];
}

/** An item of an agent's plan. */
export interface Todo {
  content: string;
  status: string;
  priority: string;
}

export interface SessionInfo {
  id: string;
  title: string;
  time: { created: number; updated: number };
}

/** The id of a conversation, as the runtime has them. */
export function newSessionId(): string {
  return newMessageId(Date.now()).replace(/^msg/, "ses");
}

export function newPartId(): string {
  return newMessageId(Date.now()).replace(/^msg/, "prt");
}
