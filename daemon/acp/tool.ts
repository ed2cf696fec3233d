import { isAbsolute, relative } from "node:path";
import { createTwoFilesPatch, parsePatch } from "diff";
import { arrayOf, field, isObject, textField } from "../../src/contract/json.ts";
import type { FileChange, ToolPart, ToolState } from "./messages.ts";

/** Characters of an output, and of the sides of a diff, that are kept. */
const OUTPUT_MAX = 200_000;
const DIFF_MAX = 1_000_000;
const FILES_MAX = 20;
/** Of a diff that takes longer than this, only the path is known. */
const DIFF_MS = 500;

const STATUS: Readonly<Record<string, ToolState["status"]>> = {
  pending: "pending",
  in_progress: "running",
  completed: "completed",
  failed: "error",
};

/** The names of the runtime's tools, by the kinds of the protocol. */
const NAMES: Readonly<Record<string, string>> = {
  read: "read",
  edit: "edit",
  delete: "delete",
  move: "move",
  search: "grep",
  execute: "bash",
  think: "think",
  fetch: "webfetch",
};

/**
 * Applies a `tool_call` or `tool_call_update` of the protocol (Agent Client Protocol 1, Tool Calls) to the part of the
 * tool's use. Fields that an update does not have are unchanged.
 * @param part as it is so far
 * @param workspace paths below it are shown relative to it
 */
export function applyToolUpdate(part: ToolPart, update: unknown, workspace: string): ToolPart {
  const before = part.state;
  const status = STATUS[textField(update, "status")] ?? before.status;
  const isOver = status === "completed" || status === "error";
  const content = field(update, "content");
  const output = outputOf(update) ?? before.output;
  const changes = Array.isArray(content) ? diffsOf(content, workspace) : null;
  const input = field(update, "rawInput");
  const title = textField(update, "title") || before.title;
  return {
    ...part,
    tool: nameOf(update) ?? part.tool,
    state: {
      status,
      input: isObject(input) ? { ...input } : withPath(before.input, update, workspace),
      title,
      output,
      ...(status === "error" && { error: output.trim() || "The tool failed." }),
      metadata: changes ?? before.metadata,
      time: { ...before.time, ...(isOver && { end: before.time.end ?? Date.now() }) },
    },
  };
}

/** The state of a tool's use that has just begun. */
export function newToolState(): ToolState {
  const time = { start: Date.now() };
  return { status: "pending", input: {}, title: "", output: "", metadata: {}, time };
}

/** Null: the update has no name. */
function nameOf(update: unknown): string | null {
  const own = textField(field(field(update, "_meta"), "claudeCode"), "toolName") || textField(update, "name");
  const kind = textField(update, "kind");
  return own.toLowerCase() || NAMES[kind] || kind || null;
}

/** A tool without an input is described by the file that it is about. */
function withPath(input: ToolState["input"], update: unknown, workspace: string): ToolState["input"] {
  const [first] = arrayOf(field(update, "locations"));
  const path = textField(first, "path");
  return path === "" || Object.keys(input).length > 0 ? input : { path: inWorkspace(path, workspace) };
}

/** Claude Code and Codex put the output of a command into a fence of Markdown. */
const FENCED = /^(`{3,})[a-z]*\n([\s\S]*)\n\1\s*$/;

function outputOf(update: unknown): string | null {
  const texts = arrayOf(field(update, "content"))
    .filter((each) => textField(each, "type") === "content")
    .map((each) => textField(field(each, "content"), "text"));
  const text = texts.filter((each) => each !== "").join("\n");
  if (text !== "") return (FENCED.exec(text)?.[2] ?? text).slice(0, OUTPUT_MAX);
  const raw = field(update, "rawOutput");
  if (raw === undefined || raw === null) return null;
  const known =
    typeof raw === "string" ? raw : textField(raw, "formatted_output") || textField(raw, "output");
  return (known || JSON.stringify(raw)).slice(0, OUTPUT_MAX);
}

/** The changes of files that a tool reports, as patches; null if it reports none. */
function diffsOf(content: readonly unknown[], workspace: string): ToolState["metadata"] | null {
  const diffs = content.filter((each) => textField(each, "type") === "diff").slice(0, FILES_MAX);
  if (diffs.length === 0) return null;
  const files: FileChange[] = [];
  const patches: string[] = [];
  for (const diff of diffs) {
    const path = inWorkspace(textField(diff, "path"), workspace);
    const [before, after] = [textField(diff, "oldText"), textField(diff, "newText")];
    const patch = before.length + after.length > DIFF_MAX ? undefined : patchOf(path, before, after);
    files.push({ relativePath: path, ...countsOf(patch) });
    if (patch !== undefined) patches.push(patch);
  }
  return { diff: patches.join("\n"), files };
}

function patchOf(path: string, before: string, after: string): string | undefined {
  return createTwoFilesPatch(path, path, before, after, undefined, undefined, {
    context: 3,
    timeout: DIFF_MS,
  });
}

function countsOf(patch: string | undefined): { additions: number; deletions: number } {
  const lines =
    patch === undefined ? [] : parsePatch(patch).flatMap(({ hunks }) => hunks.flatMap((hunk) => hunk.lines));
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { additions: count("+"), deletions: count("-") };
}

function inWorkspace(path: string, workspace: string): string {
  if (!isAbsolute(path)) return path;
  const below = relative(workspace, path);
  return below === "" || below.startsWith("..") ? path : below;
}
