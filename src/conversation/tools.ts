import { arrayOf, field, numberField, textField } from "../contract/json.ts";

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
  /** What it was given, in the order in which it was. */
  input: { name: string; value: string }[];
  /** What it said; empty while it runs. */
  output: string;
  /** The change that it made, as a patch; empty where it made none, or does not say. */
  patch: string;
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
/** Characters of an input, an output or a patch, and inputs of one tool: what a person reads. */
const DETAIL_MAX = 20_000;
const INPUTS_MAX = 20;
/** Inputs that say what a tool does, the first that is there. */
const TELLING = ["command", "filePath", "path", "pattern", "url", "query", "description", "name"];

export function toolOf(part: unknown): ToolUse | null {
  const tool = textField(part, "tool");
  const state = field(part, "state");
  const status = textField(state, "status");
  if (tool === "" || !isState(status)) return null;
  const input = field(state, "input");
  const metadata = field(state, "metadata");
  const telling = TELLING.map((name) => textField(input, name)).find((value) => value !== "") ?? "";
  return {
    tool,
    state: status,
    title: cut(textField(state, "title") || telling),
    error: status === "error" ? cut(textField(state, "error") || "it failed") : null,
    files: status === "completed" ? filesOf(tool, input, metadata) : [],
    subagent: textField(metadata, "sessionId") || null,
    input: inputsOf(input),
    output: shorten(textField(state, "output"), DETAIL_MAX),
    patch: shorten(
      textField(metadata, "diff") || textField(field(metadata, "filediff"), "patch"),
      DETAIL_MAX,
    ),
  };
}

const isState = (status: string): status is ToolUse["state"] =>
  ["pending", "running", "completed", "error"].includes(status);

function inputsOf(input: unknown): ToolUse["input"] {
  if (typeof input !== "object" || input === null) return [];
  return Object.entries(input)
    .slice(0, INPUTS_MAX)
    .map(([name, value]) => ({
      name: shorten(name, WORDS_MAX),
      value: shorten(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), DETAIL_MAX),
    }));
}

function filesOf(tool: string, input: unknown, metadata: unknown): FileEdit[] {
  const many = arrayOf(field(metadata, "files")).slice(0, FILES_MAX).map(editOf);
  if (many.length > 0) return many.filter(({ path }) => path !== "");
  const one = field(metadata, "filediff");
  if (one !== undefined) return [{ ...editOf(one), path: textField(input, "filePath") || editOf(one).path }];
  if (tool !== "write") return [];
  const additions = field(metadata, "exists") === false ? lineCount(textField(input, "content")) : null;
  return [{ path: textField(input, "filePath"), additions, deletions: additions === null ? null : 0 }];
}

function editOf(value: unknown): FileEdit {
  const path = textField(value, "relativePath") || textField(value, "file") || textField(value, "filePath");
  return { path, additions: numberField(value, "additions"), deletions: numberField(value, "deletions") };
}

const lineCount = (content: string): number =>
  content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;

function cut(words: string): string {
  return shorten(words.trim().replace(/\s*\n\s*/g, " ⏎ "), WORDS_MAX);
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max).trimEnd()}…` : text;
}
