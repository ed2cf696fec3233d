import { constants } from "node:os";

const NAMES = ["SIGINT", "SIGTERM"] as const;
type Take = (signal: NodeJS.Signals) => void;

/** Until somebody says otherwise, nothing is under way that would have to be ended in good order. */
let take: Take = endAtOnce;
for (const name of NAMES) process.on(name, (signal) => take(signal));

/**
 * Says what the first request to end does, instead of ending the process at once, as those after it do. `main.ts` imports
 * this file before any other: the kernel drops the signals that the first process of a container has no handler for
 * (pid_namespaces(7)), also while the rest is being loaded.
 */
export function onFirstSignal(act: () => void): void {
  take = () => {
    take = endAtOnce;
    act();
  };
}

/** Ends with the status that shells give to a program that a signal ended. */
function endAtOnce(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal]);
}
