import { basename } from "node:path";
import { catchSignals } from "./process/signals.ts";

/** Those that ask a program to do something; the others are about the process that gets them. */
const FORWARDED = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;

// One program by two names. Signals are caught first; everything else is loaded after that.
if (basename(process.argv0).startsWith("svc-entrypoint")) {
  const signals = catchSignals(FORWARDED);
  const { runEntrypoint } = await import("./entrypoint.ts");
  await runEntrypoint(signals);
} else {
  const { runAgent } = await import("./agent.ts");
  await runAgent(process.argv.slice(2));
}
