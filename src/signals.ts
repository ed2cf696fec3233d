import { constants } from "node:os";

const NAMES = ["SIGINT", "SIGTERM"] as const;
type Handler = (signal: NodeJS.Signals) => void;

/** Without `onFirstSignal` there is nothing to shut down gracefully. */
let handle: Handler = exitAtOnce;
for (const name of NAMES) process.on(name, (signal) => handle(signal));

/**
 * Sets the action of the first signal; later ones end the process at once. `main.ts` imports this file before any other:
 * the kernel drops signals for the first process of a container while that has no handler (pid_namespaces(7)).
 */
export function onFirstSignal(act: () => void): void {
  handle = () => {
    handle = exitAtOnce;
    act();
  };
}

/** Exits with the status that shells report for a program that a signal has ended. */
function exitAtOnce(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal]);
}
