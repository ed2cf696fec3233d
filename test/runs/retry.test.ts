import { expect, test } from "bun:test";
import { SvcError } from "../../src/contract/errors.ts";
import { withRetries } from "../../src/features/runs/retry.ts";
import { SandboxError } from "../../src/sandboxes/provider.ts";

const never = new AbortController().signal;
const busy = () =>
  new SvcError("repo_unreachable", "The repository did not answer.", {}, { "Retry-After": "5" });

function tried(errors: readonly Error[], signal = never) {
  const lines: string[] = [];
  let tries = 0;
  const log = { write: (source: string, text: string) => void lines.push(`${source}: ${text}`) };
  const outcome = withRetries(log, signal, async () => {
    const error = errors[tries++];
    if (error) throw error;
    return "done";
  });
  return { outcome, lines, tries: () => tries };
}

test("a step that a busy host has failed is tried again, and the log says so", async () => {
  const { outcome, lines, tries } = tried([busy()]);
  expect(await outcome).toBe("done");
  expect([tries(), lines]).toEqual([2, ["svc: The repository did not answer. Retrying in 1 s."]]);
});

test.each([
  ["an error that stays", new SvcError("repo_unreachable", "There is no repository.")],
  ["an error of the sandbox", new SandboxError("No engine answers.")],
  ["a fault of svc", new TypeError("undefined")],
])("%s is not tried again", async (_, error) => {
  const { outcome, lines, tries } = tried([error]);
  expect(outcome).rejects.toBe(error);
  await outcome.catch(() => {});
  expect([tries(), lines]).toEqual([1, []]);
});

test("a start that is stopped meanwhile does not wait for the next attempt", async () => {
  const stop = new AbortController();
  const { outcome, tries } = tried([busy(), busy()], stop.signal);
  await Bun.sleep(0);
  stop.abort(new Error("stopped"));
  expect(outcome).rejects.toThrow();
  await outcome.catch(() => {});
  expect(tries()).toBe(1);
});
