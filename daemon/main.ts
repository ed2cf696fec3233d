import { basename } from "node:path";
import { catchSignals } from "./process/signals.ts";

/** Signals that users and supervisors send to a program. */
const FORWARDED = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

// One binary with two names. Signals are caught first; all other modules are loaded after that.
if (basename(process.argv0).startsWith("svc-entrypoint")) {
  const signals = catchSignals(FORWARDED);
  const { runEntrypoint } = await import("./entrypoint.ts");
  await runEntrypoint(signals);
} else if (process.argv[2] === "read-workspace") {
  // a page waits for it
  const { runReadWorkspace } = await import("./workspace/read-files.ts");
  process.exitCode = await runReadWorkspace(process.argv.slice(3));
} else {
  const { runAgent } = await import("./agent.ts");
  await runAgent(process.argv.slice(2));
}
