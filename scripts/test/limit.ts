/** Milliseconds for a test that sets no limit of its own: only a hang reaches it, on the slowest machine. */
export const TEST_LIMIT_MS = 180_000;
