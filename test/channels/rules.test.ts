import { expect, test } from "bun:test";
import { answerOf, askMessage, readAnswer } from "../../src/features/channels/ask-message.ts";
import {
  escapeLine,
  escapeText,
  link,
  plainText,
  readText,
} from "../../src/features/channels/slack/mrkdwn.ts";
import { readClick, readMessage } from "../../src/features/channels/slack/payload.ts";
import { derivedId } from "../../src/lib/derived-id.ts";
import { fc } from "../helpers/property.ts";

const BOT = "U0BOT1";

test.each([
  ["a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"],
  [
    "<!channel> <@U1> <https://evil.example|svc>",
    "&lt;!channel&gt; &lt;@U1&gt; &lt;https://evil.example|svc&gt;",
  ],
  ["@here @Channel @everyone @ada", "@\u200bhere @\u200bChannel @\u200beveryone @ada"],
  ["&lt;!here&gt;", "&amp;lt;!here&amp;gt;"],
  ["a\u202eb\u0000c\u0007\n\td\r\ne", "abc\n\td\ne"],
])("%j is shown as %j", (text, shown) => {
  expect(escapeText(text, 1_000)).toBe(shown);
});

test("escaped text has no markup of Slack's, and is never longer than its limit", () => {
  const unit = fc.constantFrom("<", ">", "&", "@", "h", "ere", "!channel", "|", "é", "😀", "\n", "\u202e");
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      for (const escaped of [escapeText(text, 40), escapeLine(text, 40)]) {
        expect(escaped.length).toBeLessThanOrEqual(40);
        expect(escaped).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)|@(?:channel|here)/);
        expect(escaped.isWellFormed()).toBe(true);
      }
    }),
  );
});

test("a line has no breaks and no markup that closes around it", () => {
  expect(escapeLine(" a\n*b*\t`c` ", 100)).toBe("a *\u200bb*\u200b `\u200bc`\u200b");
  expect(plainText("x".repeat(100), 75)).toHaveLength(75);
  expect(plainText(" \n ", 75)).toBe("…");
  expect(link("http://a.example/x|y>z", "t")).toBe("<http://a.example/x%7Cy%3Ez|t>");
});

test.each([
  [`<@${BOT}> hello <@${BOT}>`, "hello"],
  ["&lt;b&gt; &amp;amp;", "<b> &amp;"],
  ["<https://a.example/x>", "https://a.example/x"],
  ["<https://a.example/x|a.example/x>", "https://a.example/x"],
  ["<https://a.example/x|docs>", "docs (https://a.example/x)"],
  [
    "<@U0ADA1|ada> <@U0BOB1> <#C0GEN1|general> <!here> <!subteam^S1|@team>",
    "@ada @U0BOB1 #general @here @team",
  ],
])("the agent reads %j as %j", (text, read) => {
  expect(readText(text, BOT)).toBe(read);
});

test("a message in a thread of a channel is a reply, a mention there is both", () => {
  const event = {
    type: "message",
    channel: "C0GEN1",
    user: "U0ADA1",
    ts: "2.1",
    thread_ts: "1.1",
    text: "x",
  };
  expect(readMessage(event, BOT)).toMatchObject({ thread: "1.1", isMention: false, isDirect: false });
  expect(readMessage({ ...event, text: `<@${BOT}>` }, BOT)).toMatchObject({ isMention: true });
  expect(readMessage({ ...event, thread_ts: "2.1" }, BOT)).toBeNull();
  expect(readMessage({ ...event, channel: "D0ADA1", thread_ts: undefined }, BOT)).toMatchObject({
    isDirect: true,
  });
  for (const ts of ["", "1", "1.1.1", "a.1", `${"1".repeat(13)}.1`])
    expect(readMessage({ ...event, ts }, BOT)).toBeNull();
});

test("a click is read only from a button in a message of a conversation", () => {
  const click = {
    ...{ type: "block_actions", user: { id: "U0ADA1" }, channel: { id: "C0GEN1" } },
    message: { ts: "2.1", thread_ts: "1.1" },
    actions: [{ type: "button", action_id: "svc_merge", value: "v", action_ts: "3.1" }],
  };
  expect(readClick(click)).toMatchObject({ thread: "1.1", ts: "2.1", actionId: "svc_merge", value: "v" });
  expect(readClick({ ...click, message: { ts: "2.1" } })).toMatchObject({ thread: "2.1" });
  for (const more of [
    { type: "view_submission" },
    { actions: [] },
    { actions: [{ type: "static_select", action_id: "svc_merge", action_ts: "3.1" }] },
    { user: { id: "nobody" } },
    { channel: {} },
    { message: {} },
  ])
    expect(readClick({ ...click, ...more })).toBeNull();
});

test("the buttons of a question stay within Slack's limits, whatever the agent asks", () => {
  const labels = Array.from({ length: 20 }, (_, at) => `${at} ${"<".repeat(4_000)}`);
  const ask = (options: string[]) => ({
    ...{ request_id: "que_1", kind: "question" as const, kept: false, permission: null, patterns: [] },
    questions: [
      {
        ...{ question: "&".repeat(10_000), multiple: false, custom: false },
        options: options.map((label) => ({ label, description: "" })),
      },
    ],
  });
  const { text, blocks } = askMessage(ask(labels), "http://svc.example/s");
  expect(text.length).toBeLessThanOrEqual(3_000);
  expect(JSON.stringify(blocks)).not.toContain("<".repeat(76));
  expect(blocks).toHaveLength(2);
  expect(askMessage(ask([...labels, "more"]), "http://svc.example/s").blocks).toHaveLength(1);
  expect(answerOf(ask(labels), 3)).toEqual([[labels[3] ?? ""]]);
  expect(answerOf(ask(labels), 20)).toBeNull();
  const permission = { kind: "permission" as const, questions: [] };
  expect([0, 1, 2].map((option) => answerOf(permission, option))).toEqual(["once", "reject", null]);
  expect(readAnswer('{"ask":"que_1","option":3}')).toEqual({ ask: "que_1", option: 3 });
  expect(readAnswer('{"ask":"","option":3}')).toBeNull();
});

test("an id follows from its names, and from where each ends", () => {
  expect(derivedId("a", "b")).toBe(derivedId("a", "b"));
  expect(derivedId("a", "b")).not.toBe(derivedId("ab", ""));
  expect(derivedId("a")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
