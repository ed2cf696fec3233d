import { expect, test } from "bun:test";
import { type Known, type Outcome, outcomeOf } from "../../daemon/prompts/outcome.ts";
import type { Answer, PromptStatus } from "../../daemon/prompts/prompt-status.ts";

const KNOWN: Known = { hasRestarted: false, isAborted: false, runtimeError: null, idleMs: 60_000 };
const begun: Answer = { isComplete: false, finish: null, error: null };
const over: Answer = { isComplete: true, finish: "stop", error: null };
const failed = (name: string, message = "no"): Answer => ({
  ...over,
  finish: null,
  error: { name, message },
});

test.each<[string, Partial<PromptStatus>, Partial<Known>, Outcome["state"] | null]>([
  ["complete, although another run has started", { answer: over, isBusy: true }, { idleMs: 0 }, "answered"],
  ["in progress", { answer: begun, isBusy: true }, {}, null],
  ["between two tool calls", { answer: { ...over, finish: "tool-calls" }, isBusy: true }, {}, null],
  ["between two tool calls, not shown", { answer: { ...over, finish: "tool-calls" } }, { idleMs: 0 }, null],
  ["ended by a tool call", { answer: { ...over, finish: "tool-calls" } }, {}, "answered"],
  ["its end is not recorded yet", { answer: begun }, { idleMs: 1_000 }, null],
  ["its end was never recorded", { answer: begun }, {}, "interrupted"],
  ["no run is visible yet", { answer: null }, { idleMs: 59_999 }, null],
  ["no run was ever visible", { answer: null }, {}, "failed"],
  [
    "the runtime reported why there is no run",
    { answer: null },
    { idleMs: 0, runtimeError: "No model." },
    "failed",
  ],
  ["the model failed", { answer: failed("APIError") }, { idleMs: 0 }, "failed"],
  ["aborted", { answer: failed("MessageAbortedError") }, { idleMs: 0 }, "aborted"],
  ["aborted while it waited for a retry", { answer: { ...over, finish: null } }, {}, "aborted"],
  ["aborted before it started", { answer: null }, { isAborted: true }, "aborted"],
  ["aborted for a restart", { answer: failed("MessageAbortedError") }, { hasRestarted: true }, "interrupted"],
  ["cut off by a restart", { answer: begun }, { hasRestarted: true }, "interrupted"],
  ["complete before a restart", { answer: over }, { hasRestarted: true }, "answered"],
])("%s", (_, sight, known, state) => {
  const seen = { isRecorded: true, isBusy: false, answer: null, last: null, ...sight };
  expect(outcomeOf(seen, { ...KNOWN, ...known })?.state ?? null).toBe(state);
});

test("an error is one line of limited length, without control characters", () => {
  const message = `\u001b[31m${"x".repeat(1_000)}\n    at somewhere`;
  const { error } = outcomeOf(
    { isRecorded: true, isBusy: false, answer: failed("APIError", message), last: null },
    KNOWN,
  ) ?? { error: null };
  expect(error).toMatch(/^\[31mx+$/);
  expect(error?.length).toBeLessThanOrEqual(500);
});
