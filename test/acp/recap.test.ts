import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Conversation } from "../../daemon/acp/conversation.ts";
import type { Message } from "../../daemon/acp/messages.ts";
import { recapOf } from "../../daemon/acp/recap.ts";
import { DAEMON_MARK } from "../../src/contract/conversation.ts";

const message = (role: "user" | "assistant", ...texts: string[]): Message => ({
  info: { id: "msg_1", sessionID: "ses_1", role, time: { created: 1 } },
  parts: texts.map((text) => ({
    ...{ id: "prt_1", sessionID: "ses_1", messageID: "msg_1", type: "text", text, time: { start: 1 } },
  })),
});

test("an agent is told what it and the user said, without the notes of svc", () => {
  const note = `${DAEMON_MARK}The agent runtime restarted.`;
  const recap = recapOf([
    message("user", "Do it"),
    message("assistant", "Done"),
    message("user", note),
    message("user", note, `Say ${DAEMON_MARK}`),
  ]);
  expect(recap.slice(recap.indexOf("##"))).toBe(
    `## User\n\nDo it\n\n\n## You\n\nDone\n\n\n## User\n\nSay ${DAEMON_MARK}\n\n`,
  );
});

test("an agent is told the newest messages that fit", () => {
  const recap = recapOf(
    Array.from({ length: 20 }, (_, index) => message("user", `${index}: ${"x".repeat(5_000)}`)),
  );
  expect([...recap.matchAll(/^(\d+): x{2,} …$/gm)].map(([, index]) => Number(index))).toEqual([
    13, 14, 15, 16, 17, 18, 19,
  ]);
  expect(
    recapOf([message("assistant", ...Array.from({ length: 20 }, () => "x".repeat(5_000)))]),
  ).toHaveLength(24_001);
});

test("an agent names a conversation that has no title, and does not rename one", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-title-"));
  const named = (name: string, title: string) => {
    const conversation = new Conversation(join(folder, name));
    conversation.open(title);
    conversation.setTitle("");
    conversation.setTitle("First");
    conversation.setTitle("Second");
    return conversation.session?.title;
  };
  expect([named("new", ""), named("kept", "Fix the parser")]).toEqual(["First", "Fix the parser"]);
  rmSync(folder, { recursive: true });
});
