import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";

/**
 * The polling interval is a part of the time waited so far: a poll may be a request, which slows down what is waited for.
 * With a half, a wait of two seconds has 12 polls; with a quarter, it had 22.
 */
const [PART, FIRST_MS, LAST_MS] = [0.5, 20, 500];

/** Polls until a condition holds, if there is no event to wait for. */
export async function until(
  what: string | (() => string),
  isSo: () => boolean | Promise<boolean>,
  withinMs = WAIT_LIMIT_MS,
): Promise<void> {
  const begun = performance.now();
  while (!(await isSo())) {
    const waited = performance.now() - begun;
    if (waited > withinMs) {
      throw new Error(`not within ${withinMs} ms: ${typeof what === "string" ? what : what()}`);
    }
    await Bun.sleep(Math.min(Math.max(waited * PART, FIRST_MS), LAST_MS));
  }
}

/**
 * Waits until a condition has held for a while: earlier requests may still arrive and change it. It is looked at several times
 * in that while, however long the pauses of `until` have become.
 */
export async function untilSteady(what: string, isSo: () => boolean, steadyMs = 200): Promise<void> {
  await until(`${what}, for ${steadyMs} ms`, async () => {
    const begun = performance.now();
    while (isSo()) {
      if (performance.now() - begun >= steadyMs) return true;
      await Bun.sleep(steadyMs / 4);
    }
    return false;
  });
}
