import { expect, test } from "bun:test";
import type { ToolPart } from "../../daemon/acp/messages.ts";
import { applyToolUpdate, newToolState } from "../../daemon/acp/tool.ts";

const WORKSPACE = "/workspace";
const fresh = (): ToolPart => ({
  ...{ id: "prt_1", sessionID: "ses_1", messageID: "msg_1", type: "tool", callID: "c", tool: "other" },
  state: newToolState(),
});
const after = (...updates: unknown[]) =>
  updates.reduce<ToolPart>((part, update) => applyToolUpdate(part, update, WORKSPACE), fresh());
const content = (text: string) => [{ type: "content", content: { type: "text", text } }];

test.each([
  ["pending", "pending", false],
  ["in_progress", "running", false],
  ["completed", "completed", true],
  ["failed", "error", true],
  ["unheard_of", "pending", false],
])("the status %s is %s", (status, expected, isOver) => {
  const { state } = after({ status });
  expect({ status: state.status, isOver: state.time.end !== undefined }).toMatchObject({
    status: expected,
    isOver,
  });
});

test("an update changes only what it has", () => {
  const { tool, state } = after(
    { kind: "execute", title: "ls", rawInput: { command: "ls" }, status: "in_progress" },
    { content: content("a\nb") },
    { status: "completed" },
  );
  expect([tool, state.title, state.input, state.output, state.status]).toEqual([
    ...["bash", "ls", { command: "ls" }, "a\nb", "completed"],
  ]);
});

test.each([
  [{ kind: "search" }, "grep"],
  [{ kind: "switch_mode" }, "switch_mode"],
  [{ kind: "edit", name: "ApplyPatch" }, "applypatch"],
  [{ kind: "execute", _meta: { claudeCode: { toolName: "Bash" } } }, "bash"],
  [{}, "other"],
])("the tool of %j is %s", (update, name) => {
  expect(after(update).tool).toBe(name);
});

test.each([
  [{ content: content("```console\nran\n```") }, "ran"],
  [{ content: content("````\n```\ninner\n```\n````\n") }, "```\ninner\n```"],
  [{ content: content("before\n```\nin\n```") }, "before\n```\nin\n```"],
  [{ content: content("```zsh\nran\n```") }, "ran"],
  [{ content: content("```\n\n```") }, ""],
  [{ content: content("```\nin\n``` after") }, "```\nin\n``` after"],
  [{ rawOutput: "text" }, "text"],
  [{ rawOutput: { formatted_output: "formatted", output: "raw" } }, "formatted"],
  [{ rawOutput: { code: 1 } }, '{"code":1}'],
  [{ rawOutput: null }, ""],
  [{ content: content(""), rawOutput: "raw" }, "raw"],
])("the output of %j is %j", (update, output) => {
  expect(after(update).state.output).toBe(output);
});

test("a place describes only a tool without an input", () => {
  const locations = [{ path: "/workspace/a" }];
  expect(after({ rawInput: { command: "ls" }, locations }, { locations }).state.input).toEqual({
    command: "ls",
  });
  expect(after({ locations: [{ path: "" }] }).state.input).toEqual({});
});

test("an output is bounded", () => {
  expect(after({ rawOutput: "x".repeat(300_000) }).state.output).toHaveLength(200_000);
});

test("a failure has its output as its reason", () => {
  expect(after({ status: "failed", rawOutput: " no such file\n" }).state.error).toBe("no such file");
  expect(after({ status: "failed" }).state.error).toBe("The tool failed.");
});

test.each([
  ["/workspace/src/a.ts", "src/a.ts"],
  ["/workspace", "/workspace"],
  ["/etc/passwd", "/etc/passwd"],
  ["/workspace-2/a", "/workspace-2/a"],
  ["a/b", "a/b"],
])("the path %s is shown as %s", (path, shown) => {
  const { metadata } = after({
    content: [{ type: "diff", path, oldText: null, newText: "one\ntwo\n" }],
  }).state;
  expect(metadata.files).toEqual([{ relativePath: shown, additions: 2, deletions: 0 }]);
  expect(after({ locations: [{ path }] }).state.input).toEqual({ path: shown });
});

test("lines that look like the heads of a patch are counted", () => {
  const diff = { type: "diff", path: "/workspace/a", oldText: "-- x\n", newText: "++ y\n++ z\n" };
  expect(after({ content: [diff] }).state.metadata.files).toEqual([
    { relativePath: "a", additions: 2, deletions: 1 },
  ]);
});

test("a patch has three lines of context", () => {
  const lines = (fifth: string) => ["1", "2", "3", "4", fifth, "6", "7", "8", "9"].join("\n");
  const diff = { type: "diff", path: "a", oldText: lines("5"), newText: lines("five") };
  expect(after({ content: [diff] }).state.metadata.diff).toContain("@@ -2,7 +2,7 @@");
});

test("a change that is too large has no patch, and the files are bounded", () => {
  const large = { type: "diff", path: "/workspace/a", oldText: "", newText: "x\n".repeat(600_000) };
  expect(after({ content: [large] }).state.metadata).toEqual({
    diff: "",
    files: [{ relativePath: "a", additions: 0, deletions: 0 }],
  });
  const both = { ...large, oldText: "y\n".repeat(300_000), newText: "x\n".repeat(300_000) };
  expect(after({ content: [both] }).state.metadata.diff).toBe("");
  const many = Array.from({ length: 30 }, () => ({ type: "diff", path: "a", oldText: "", newText: "b" }));
  expect(after({ content: many }).state.metadata.files).toHaveLength(20);
});
