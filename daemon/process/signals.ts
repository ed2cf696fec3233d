type Take = (signal: NodeJS.Signals) => void;

/** Signals that were sent to this process, the oldest first. */
export interface Signals {
  /** Hands on those that have come, at once, and those that come. */
  forwardTo(take: Take): void;
}

/**
 * Catches signals from now on, and keeps them until somebody takes them: the kernel drops what the first process of a
 * namespace has no handler for (pid_namespaces(7)), and there it is called before anything else.
 */
export function catchSignals(names: readonly NodeJS.Signals[]): Signals {
  const kept: NodeJS.Signals[] = [];
  let take: Take = (signal) => void kept.push(signal);
  for (const name of names) process.on(name, () => take(name));
  return {
    forwardTo(next) {
      take = next;
      for (const signal of kept.splice(0)) next(signal);
    },
  };
}
