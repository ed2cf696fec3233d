/**
 * A server as far as its local sandboxes go: starts one as the options say that it is given as JSON, writes a line with
 * it, and then waits to be killed.
 */

import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { createLocalProvider } from "../../src/sandboxes/local/local.ts";
import { specOf, watchOf } from "./sandbox-bench.ts";

const { sessionId, port, ...options } = JSON.parse(process.argv[2] ?? "{}");
const provider = createLocalProvider({ ...options, api: () => ({ hostname: "127.0.0.1", port }) });
const watch = watchOf();
const sandbox = await provider.start(specOf({}, { sessionId }), watch, AbortSignal.timeout(WAIT_LIMIT_MS));
console.log(JSON.stringify({ sandbox, lines: watch.lines }));
await new Promise(() => setInterval(() => {}, 60_000));
