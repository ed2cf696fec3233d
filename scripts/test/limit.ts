/** Milliseconds for a test that sets no limit of its own: only a hang reaches it, on the slowest machine. */
export const TEST_LIMIT_MS = 300_000;
/** Milliseconds for one wait in a test: it ends before the test does, so that the failure names what was waited for. */
export const WAIT_LIMIT_MS = 240_000;
