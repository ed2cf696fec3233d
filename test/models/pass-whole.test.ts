import { expect, spyOn, test } from "bun:test";
import { ERROR_BODY_MAX, SHORT_BODY_MAX, SHORT_MS } from "../../src/features/models/limits.ts";
import { passWhole } from "../../src/features/models/pass-whole.ts";
import type { Sent } from "../../src/features/models/send.ts";

const KEY = "sk-secret";
const PIECE = Buffer.alloc(1024, "a");

/** A response of these pieces. @param end how its body ends: as it should, broken, or not before it is aborted */
function sent(status: number, pieces: readonly Uint8Array[], end: "whole" | "broken" | "never" = "whole") {
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const left = [...pieces];
  let isAborted = false;
  const made: Sent = {
    via: {
      upstream: {
        id: "u",
        format: "openai",
        url: "https://model.example/v1",
        key: KEY,
        isOfProject: false,
        models: null,
      },
      model: { id: "m", name: "m", prices: null },
    },
    response: new Response(null, { status }),
    body: {
      next: async () => {
        const value = left.shift();
        if (value) return { done: false, value };
        if (end === "broken") throw new Error("reset");
        return end === "whole" ? { done: true } : await aborted.promise;
      },
    },
    abort() {
      isAborted = true;
      aborted.reject(new Error("aborted"));
    },
  };
  return { made, isAborted: () => isAborted };
}

const NEVER = new AbortController().signal;
const times = (count: number) => Array<Uint8Array>(count).fill(PIECE);

test.each([
  ["a list of models longer than an error", 200, times(ERROR_BODY_MAX / 1024 + 1), "whole", "whole"],
  ["the longest list", 200, times(SHORT_BODY_MAX / 1024), "whole", "whole"],
  ["a list that is too long", 200, [...times(SHORT_BODY_MAX / 1024), Buffer.from("b")], "whole", "refused"],
  ["a list that is cut", 200, times(1), "broken", "refused"],
  ["an error", 429, times(1), "whole", "whole"],
  ["an error that is cut", 500, times(2), "broken", "whole"],
  ["an error that is too long", 400, times(ERROR_BODY_MAX / 1024 + 5), "never", "first"],
] as const)("%s", async (_what, status, pieces, end, expected) => {
  const { made, isAborted } = sent(status, pieces, end);
  const answer = passWhole(made, NEVER);
  if (expected === "refused") await expect(answer).rejects.toMatchObject({ code: "model_unreachable" });
  else {
    const { body = "" } = await answer;
    const whole = Buffer.concat(pieces);
    expect(String(body).length).toBe(expected === "first" ? ERROR_BODY_MAX : whole.length);
  }
  expect(isAborted()).toBe(true);
});

test("an upstream's key is not passed on", async () => {
  const { made } = sent(401, [Buffer.from(`wrong: ${KEY.slice(0, 4)}`), Buffer.from(KEY.slice(4))]);
  expect((await passWhole(made, NEVER)).body).toBe("wrong: [redacted]");
});

test.each(["before", "while"])("ends when the client leaves %s it is read", async (when) => {
  const { made, isAborted } = sent(500, [], "never");
  const client = new AbortController();
  if (when === "before") client.abort();
  const answer = passWhole(made, client.signal);
  client.abort();
  expect((await answer).body).toBe("");
  expect(isAborted()).toBe(true);
});

test("ends after the time limit", async () => {
  const timers = spyOn(globalThis, "setTimeout");
  try {
    const { made } = sent(500, times(1), "never");
    const answer = passWhole(made, NEVER);
    const [expire] = timers.mock.calls.findLast(([, ms]) => ms === SHORT_MS) ?? [];
    if (typeof expire !== "function") throw new Error("there is no time limit");
    expire();
    expect(String((await answer).body)).toHaveLength(PIECE.length);
  } finally {
    timers.mockRestore();
  }
});
