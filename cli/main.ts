import { exemptLoopback } from "../src/contract/proxy.ts";
import { run } from "./run.ts";
import { thisSystem } from "./system.ts";

// An unhandled rejection prints one line, like every other failure, instead of a stack trace.
process.on("unhandledRejection", (reason: unknown) => {
  console.error(`error: Internal error in svc: ${reason instanceof Error ? reason.message : reason}`);
  process.exitCode = 1;
});

exemptLoopback(process.env);
// Not process.exit, which drops output that a slow reader has not read yet.
process.exitCode = await run(thisSystem(), process.argv.slice(2));
