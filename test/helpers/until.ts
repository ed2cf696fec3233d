/** Waits until something is so; for what has no event to wait for. */
export async function until(
  what: string | (() => string),
  isSo: () => boolean | Promise<boolean>,
  withinMs = 120_000,
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > end) {
      throw new Error(`not within ${withinMs} ms: ${typeof what === "string" ? what : what()}`);
    }
    await Bun.sleep(10);
  }
}

/** Waits until something has been so for a while: what was sent before may still arrive and change it. */
export async function untilSteady(what: string, isSo: () => boolean, steadyMs = 200): Promise<void> {
  let since = performance.now();
  await until(`${what}, for ${steadyMs} ms`, () => {
    if (!isSo()) since = performance.now();
    return performance.now() - since >= steadyMs;
  });
}
