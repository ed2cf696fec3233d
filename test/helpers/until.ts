import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";

/** The polling interval grows: a poll may be a request, which slows down what the test waits for. */
const [FIRST_MS, LAST_MS] = [5, 50];

/** Polls until a condition holds, if there is no event to wait for. */
export async function until(
  what: string | (() => string),
  isSo: () => boolean | Promise<boolean>,
  withinMs = WAIT_LIMIT_MS,
): Promise<void> {
  const end = performance.now() + withinMs;
  for (let pause = FIRST_MS; !(await isSo()); pause = Math.min(pause * 1.5, LAST_MS)) {
    if (performance.now() > end) {
      throw new Error(`not within ${withinMs} ms: ${typeof what === "string" ? what : what()}`);
    }
    await Bun.sleep(pause);
  }
}

/** Waits until a condition has held for a while: earlier requests may still arrive and change it. */
export async function untilSteady(what: string, isSo: () => boolean, steadyMs = 200): Promise<void> {
  let since = performance.now();
  await until(`${what}, for ${steadyMs} ms`, () => {
    if (!isSo()) since = performance.now();
    return performance.now() - since >= steadyMs;
  });
}
