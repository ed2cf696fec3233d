import { expect, test } from "bun:test";
import { redact } from "../../src/git/run/redact.ts";

test.each([
  ["fatal: https://u:p@host/x and ssh://git@host/y", "fatal: https://host/x and ssh://host/y"],
  ["Authorization: Basic abcdef==", "Authorization: ***"],
  ["> authorization: Bearer abc.def", "> authorization: ***"],
  ["a s3cret b s3cret", "a *** b ***"],
  ["at /data/mirrors/x.git now", "at /x.git now"],
  ["\u001b[31mred\u001b[0m \u001b]0;title\u0007\u001b]8;;http://x\u001b\\link", "red link"],
  ["a\rb\r\nc\u0000\u009bd\u202ee", "a\nb\ncde"],
  ["\u001b", ""],
])("%j becomes %j", (text, clean) => {
  expect(redact(text, ["s3cret", "", "a"], ["/data/mirrors"])).toBe(clean);
});

test("truncates between characters", () => {
  expect(redact("ü".repeat(100), [], [], 9)).toBe("üüüü…");
});
