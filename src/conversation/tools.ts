import { arrayOf, field, numberField, textField } from "../contract/json.ts";

/** One use of a tool by the agent. */
export interface ToolUse {
  tool: string;
  state: "pending" | "running" | "completed" | "error";
  /** One line: the command, the file or the pattern. */
  title: string;
  error: string | null;
  /** The files that it reports as changed. */
  files: FileEdit[];
  /** The conversation of a subagent that it started. */
  subagent: string | null;
  /** Its inputs, in order. */
  input: { name: string; value: string }[];
  /** Its output; empty while it runs. */
  output: string;
  /** The change that it reports, as a patch; empty if none. */
  patch: string;
}

export interface FileEdit {
  path: string;
  additions: number | null;
  deletions: number | null;
}

/** Characters of a title or an error: a line, not a script. */
const TITLE_MAX = 300;
/** Files listed for one edit. */
const FILES_MAX = 20;
/** Characters of an input, an output or a patch, and inputs of one tool. */
const DETAIL_MAX = 20_000;
const INPUTS_MAX = 20;
/** Inputs that are used as a title: the first one present. */
const TITLE_INPUTS = ["command", "filePath", "path", "pattern", "url", "query", "description", "name"];

export function toolOf(part: unknown): ToolUse | null {
  const tool = textField(part, "tool");
  const state = field(part, "state");
  const status = textField(state, "status");
  if (tool === "" || !isState(status)) return null;
  const input = field(state, "input");
  const metadata = field(state, "metadata");
  const titleInput = TITLE_INPUTS.map((name) => textField(input, name)).find((value) => value !== "") ?? "";
  return {
    tool,
    state: status,
    title: oneLine(textField(state, "title") || titleInput),
    error: status === "error" ? oneLine(textField(state, "error") || "it failed") : null,
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
      name: shorten(name, TITLE_MAX),
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

function oneLine(text: string): string {
  return shorten(text.trim().replace(/\s*\n\s*/g, " ⏎ "), TITLE_MAX);
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max).trimEnd()}…` : text;
}
