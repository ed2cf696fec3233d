import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Answer } from "../../daemon/acp/answer.ts";
import { Conversation } from "../../daemon/acp/conversation.ts";
import { RuntimeTurns } from "../../src/conversation/runtime-turns.ts";

const folder = mkdtempSync(join(tmpdir(), "subagent-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** As claude-agent-acp 0.101 stamps what a subagent does. */
const of = (parentToolUseId: string) => ({ _meta: { claudeCode: { parentToolUseId } } });
const said = (text: string, more: object = {}) => ({
  ...{ sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  ...more,
});
const used = (toolCallId: string, more: object = {}) => ({
  ...{ sessionUpdate: "tool_call", toolCallId, title: toolCallId, status: "completed" },
  ...more,
});

test("what Claude Code's subagents say and do is below the tool that started them, however it is mixed", () => {
  const conversation = new Conversation(join(folder, "journal"));
  const { id: sessionId } = conversation.open("");
  const turns = new RuntimeTurns(sessionId);
  conversation.subscribe((event) => turns.applyEvent(event));
  const info = { sessionID: sessionId, role: "user" as const, time: { created: 1 } };
  conversation.setMessage({ ...info, id: "msg_1" });
  const answer = new Answer(conversation, { workspace: "/w", prompt: "msg_1", sessionId, model: null });
  for (const update of [
    said("I ask others. "),
    used("task a"),
    used("task b"),
    said("found ", of("task a")),
    said("nothing", of("task b")),
    said("it", of("task a")),
    used("ls", of("task b")),
    said("Done."),
    said("of a tool that is not known", of("task c")),
  ])
    answer.apply(update);
  answer.end({ finish: "stop", tokens: null }, null);
  const { parts } = turns.takeChanges();
  const titleOf = (id: string | null) => parts.find(({ partId }) => partId === id)?.tool?.title ?? null;
  const shown = parts.map(({ parentId, text, tool }) => [titleOf(parentId), text || tool?.title]);
  expect(shown).toEqual([
    [null, "I ask others. "],
    [null, "task a"],
    [null, "task b"],
    ["task a", "found "],
    ["task b", "nothing"],
    ["task a", "it"],
    ["task b", "ls"],
    [null, "Done.of a tool that is not known"],
  ]);
});
