import { setDefaultTimeout } from "bun:test";
import { TEST_LIMIT_MS } from "../scripts/test/limit.ts";

// Also for `bun test` without the test command. It holds for the first of several files only.
setDefaultTimeout(Number(process.env["SVC_TEST_LIMIT_MS"] ?? TEST_LIMIT_MS));
