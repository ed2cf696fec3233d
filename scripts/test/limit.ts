/** Default time limit of a test in milliseconds. Only a hang reaches it, even on the slowest machine. */
export const TEST_LIMIT_MS = 900_000;
/** Time limit of one wait in a test, in milliseconds. Shorter than that of the test, so that the failure names the wait. */
export const WAIT_LIMIT_MS = 720_000;
