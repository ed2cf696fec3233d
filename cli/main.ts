import { run } from "./run.ts";
import { thisSystem } from "./system.ts";

// What nobody awaited: one line, like every other failure, instead of the source around it.
process.on("unhandledRejection", (reason: unknown) => {
  console.error(
    `error: Something went wrong inside svc: ${reason instanceof Error ? reason.message : reason}`,
  );
  process.exitCode = 1;
});

// Never process.exit: it cuts off output that a slow reader has not taken yet.
process.exitCode = await run(thisSystem(), process.argv.slice(2));
