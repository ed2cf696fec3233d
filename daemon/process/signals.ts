type Handle = (signal: NodeJS.Signals) => void;

/** Signals that this process received, the oldest first. */
export interface Signals {
  /** Forwards the signals received so far at once, and later ones as they arrive. */
  forwardTo(handle: Handle): void;
}

/**
 * Catches signals, and queues them until `forwardTo` is called. The kernel drops signals for which the first process of
 * a PID namespace has no handler (pid_namespaces(7)), so this must run before anything else.
 */
export function catchSignals(names: readonly NodeJS.Signals[]): Signals {
  const queue: NodeJS.Signals[] = [];
  let handle: Handle = (signal) => void queue.push(signal);
  for (const name of names) process.on(name, () => handle(name));
  return {
    forwardTo(next) {
      handle = next;
      for (const signal of queue.splice(0)) next(signal);
    },
  };
}
