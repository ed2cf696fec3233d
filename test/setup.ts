import { setDefaultTimeout } from "bun:test";

/** For a test that sets no limit of its own: only a hang reaches it, on the slowest machine. */
setDefaultTimeout(180_000);
