import type { CustomRuntime, RuntimeName } from "../../src/contract/runtimes.ts";

/** The conversation as svc's adapter for agents of the Agent Client Protocol keeps it, below the home. */
export const JOURNAL = ".local/share/svc/conversation.jsonl";

/** Where each agent records its conversations, below the home: without its credentials, caches and logs. */
const PATHS: Record<RuntimeName, readonly string[]> = {
  opencode: [
    ".local/share/opencode/opencode.db",
    ".local/share/opencode/storage",
    ".local/share/opencode/tool-output",
  ],
  "claude-code": [JOURNAL, ".claude/projects", ".claude/todos", ".claude/tasks", ".claude/plans"],
  codex: [JOURNAL, ".codex/sessions"],
};

/** The files and folders of an agent's record of its conversation, relative to the home. */
export function recordPaths(runtime: RuntimeName | CustomRuntime): readonly string[] {
  return typeof runtime === "string" ? PATHS[runtime] : [JOURNAL, ...runtime.records];
}
