import { SvcError } from "../../contract/errors.ts";

/** A revoked token, a browser that is signed out and a removed membership end a stream within this time. */
const CHECK_MS = 4_000;

/**
 * A stream that ends when its caller loses access.
 * @param again checks the access again; throws SvcError when it is lost. The stream continues through other errors, such as
 *   a database outage
 */
export function whileAllowed(
  stream: ReadableStream<Uint8Array>,
  again: () => Promise<unknown>,
  checkMs = CHECK_MS,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  const { promise: lost, resolve: lose } = Promise.withResolvers<null>();
  const checks = setInterval(() => {
    again().catch((error: unknown) => {
      if (error instanceof SvcError) lose(null);
    });
  }, checkMs);
  const end = async () => {
    clearInterval(checks);
    await reader.cancel();
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const read = await Promise.race([reader.read(), lost]).catch(async (error: unknown) => {
          await end();
          throw error;
        });
        if (read !== null && !read.done) return controller.enqueue(read.value);
        await end();
        controller.close();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
}
