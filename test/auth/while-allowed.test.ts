import { expect, test } from "bun:test";
import { SvcError } from "../../src/contract/errors.ts";
import { streamOf } from "../../src/http/stream.ts";
import { whileAllowed } from "../../src/identity/auth/while-allowed.ts";

const forbidden = async () => {
  throw new SvcError("forbidden", "No longer a member.");
};

/** A stream that sends one piece, and then whatever `send` is called with, until it is cancelled. */
function openStream() {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  let send = (_: string) => {};
  const stream = streamOf(async (onBytes, signal) => {
    send = (text) => void onBytes(Buffer.from(text));
    await onBytes(Buffer.from("first"));
    await new Promise<void>((end) => signal.addEventListener("abort", () => end()));
    resolve();
  });
  return { stream, cancelled, send: (text: string) => send(text) };
}

const textOf = ({ value }: { value?: Uint8Array | undefined }) => Buffer.from(value ?? []).toString();

test("a stream ends when access is lost, and its producer stops", async () => {
  const { stream, cancelled } = openStream();
  expect(await new Response(whileAllowed(stream, forbidden, 5)).text()).toBe("first");
  await cancelled;
});

test("it goes on while access is given, through other errors, and stops checking at its end", async () => {
  const { stream, cancelled, send } = openStream();
  let asked = 0;
  const reader = whileAllowed(
    stream,
    async () => {
      if (asked++ % 2 === 0) throw new Error("the database is away");
    },
    1,
  ).getReader();
  expect(textOf(await reader.read())).toBe("first");
  while (asked < 5) await Bun.sleep(1);
  send("second");
  expect(textOf(await reader.read())).toBe("second");
  await reader.cancel();
  await cancelled;
  const before = asked;
  await Bun.sleep(20);
  expect(asked).toBe(before);
});

test("it ends with its producer, and has the producer's error", async () => {
  const ended = streamOf(async (onBytes) => onBytes(Buffer.from("all")));
  expect(await new Response(whileAllowed(ended, forbidden)).text()).toBe("all");
  const failed = streamOf(async () => {
    throw new Error("broken");
  });
  await expect(whileAllowed(failed, forbidden).getReader().read()).rejects.toThrow("broken");
});
