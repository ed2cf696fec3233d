import { expect, test } from "bun:test";
import { SvcError } from "../../src/contract/errors.ts";
import { withRetries } from "../../src/features/runs/retry.ts";
import { SandboxError } from "../../src/sandboxes/provider.ts";

const never = new AbortController().signal;
const busy = () =>
  new SvcError("repo_unreachable", "The repository did not answer.", {}, { "Retry-After": "5" });
const away = () => new SandboxError("Cannot connect to Docker.", { away: true });

/** A step that fails with these errors, one after the other, and then succeeds; pauses take no time. */
function tried(errorAt: (attempt: number) => Error | undefined, signal = never) {
  const lines: string[] = [];
  const waits: string[] = [];
  let tries = 0;
  let ms = 0;
  const outcome = withRetries(
    {
      log: { write: (source, text) => void lines.push(`${source}: ${text}`) },
      signal,
      onAway: async (what, message) => void waits.push(`${what}: ${message}`),
      now: () => ms,
      async pause(delay, stop) {
        await Bun.sleep(0);
        stop.throwIfAborted();
        ms += delay;
      },
    },
    async () => {
      const error = errorAt(tries++);
      if (error) throw error;
      return "done";
    },
  );
  return { outcome, lines, waits, tries: () => tries, minutes: () => ms / 60_000 };
}

test("a step that a busy host has failed is tried again, and the log says so", async () => {
  const { outcome, lines, tries } = tried((attempt) => [busy()][attempt]);
  expect(await outcome).toBe("done");
  expect([tries(), lines]).toEqual([2, ["svc: The repository did not answer. Retrying in 1 s."]]);
});

test("the caller is told what is away", async () => {
  const { outcome, waits } = tried((attempt) => [away(), busy()][attempt]);
  await outcome;
  expect(waits).toEqual(["engine: Cannot connect to Docker.", "repository: The repository did not answer."]);
});

test.each([
  ["a host", busy],
  ["an engine", away],
])("%s that stays away fails the step after a quarter of an hour, with its own words", async (_, error) => {
  const { outcome, minutes, tries } = tried(error);
  await expect(outcome).rejects.toThrow(error().message);
  expect(minutes()).toBeWithin(15, 15.6);
  expect(tries()).toBeWithin(30, 40);
});

test.each([
  ["an error that stays", new SvcError("repo_unreachable", "There is no repository.")],
  ["an error of the sandbox", new SandboxError("No engine answers.")],
  ["a fault of svc", new TypeError("undefined")],
])("%s is not tried again", async (_, error) => {
  const { outcome, lines, tries } = tried(() => error);
  expect(outcome).rejects.toBe(error);
  await outcome.catch(() => {});
  expect([tries(), lines]).toEqual([1, []]);
});

test("a start that is stopped meanwhile does not wait for the next attempt", async () => {
  const stop = new AbortController();
  const { outcome, tries } = tried(busy, stop.signal);
  stop.abort(new Error("stopped"));
  expect(outcome).rejects.toThrow("stopped");
  await outcome.catch(() => {});
  expect(tries()).toBe(1);
});
