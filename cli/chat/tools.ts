import { field, list, number, text } from "./fields.ts";

/** One use of a tool by the agent. */
export interface ToolUse {
  tool: string;
  state: "pending" | "running" | "completed" | "error";
  /** What it does, in a line: the command, the file, the pattern. */
  title: string;
  error: string | null;
  /** What it has changed, where it says so. */
  files: FileEdit[];
  /** The conversation of a subagent that it started. */
  subagent: string | null;
}

export interface FileEdit {
  path: string;
  additions: number | null;
  deletions: number | null;
}

/** Characters of a title or an error: a line, not a script. */
const WORDS_MAX = 300;
/** Files of one edit that are named. */
const FILES_MAX = 20;
/** Inputs that say what a tool does, the first that is there. */
const TELLING = ["command", "filePath", "path", "pattern", "url", "query", "description", "name"];

export function toolOf(part: unknown): ToolUse | null {
  const tool = text(part, "tool");
  const state = field(part, "state");
  const status = text(state, "status");
  if (tool === "" || !isState(status)) return null;
  const input = field(state, "input");
  const metadata = field(state, "metadata");
  const telling = TELLING.map((name) => text(input, name)).find((value) => value !== "") ?? "";
  return {
    tool,
    state: status,
    title: cut(text(state, "title") || telling),
    error: status === "error" ? cut(text(state, "error") || "it failed") : null,
    files: status === "completed" ? filesOf(tool, input, metadata) : [],
    subagent: text(metadata, "sessionId") || null,
  };
}

const isState = (status: string): status is ToolUse["state"] =>
  ["pending", "running", "completed", "error"].includes(status);

function filesOf(tool: string, input: unknown, metadata: unknown): FileEdit[] {
  const many = list(metadata, "files").slice(0, FILES_MAX).map(editOf);
  if (many.length > 0) return many.filter(({ path }) => path !== "");
  const one = field(metadata, "filediff");
  if (one !== undefined) return [{ ...editOf(one), path: text(input, "filePath") || editOf(one).path }];
  if (tool !== "write") return [];
  const additions = field(metadata, "exists") === false ? lineCount(text(input, "content")) : null;
  return [{ path: text(input, "filePath"), additions, deletions: additions === null ? null : 0 }];
}

function editOf(value: unknown): FileEdit {
  const path = text(value, "relativePath") || text(value, "file") || text(value, "filePath");
  return { path, additions: number(value, "additions"), deletions: number(value, "deletions") };
}

const lineCount = (content: string): number =>
  content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;

function cut(words: string): string {
  const line = words.trim().replace(/\s*\n\s*/g, " ⏎ ");
  return line.length > WORDS_MAX ? `${line.slice(0, WORDS_MAX).trimEnd()}…` : line;
}
