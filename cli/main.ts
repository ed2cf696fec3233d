import { run } from "./run.ts";
import { thisSystem } from "./system.ts";

// Never process.exit: it cuts off output that a slow reader has not taken yet.
process.exitCode = await run(thisSystem(), process.argv.slice(2));
