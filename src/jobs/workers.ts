/** The workers of this server, each of which runs one job at a time. They fetch a job only when they are woken. */
export interface Workers {
  /** Starts the workers of a queue. @param handler its signal is aborted when the server stops */
  start(
    queue: string,
    handler: (key: string, signal: AbortSignal) => Promise<void>,
    atOnce: number,
  ): Promise<void>;
  /** Wakes a worker that has no job. If it finds one, it wakes the next. */
  wakeOne(queue: string): void;
  wakeAll(queue: string): void;
}

/** What the workers use of pg-boss. */
interface Boss {
  work(
    queue: string,
    options: { pollingIntervalSeconds: number; includeMetadata: true },
    handler: (jobs: { singletonKey: string | null; signal: AbortSignal }[]) => Promise<void>,
  ): Promise<string>;
  notifyWorker(id: string): void;
}

/** @param pollS the interval in which they fetch without being woken */
export function createWorkers(boss: Boss, pollS: number, stopping: AbortSignal): Workers {
  /** Queues → the ids of the workers, and of those that have a job. */
  const queues = new Map<string, { ids: string[]; busy: Set<string> }>();

  return {
    async start(queue, handler, atOnce) {
      const busy = new Set<string>();
      // one call for several workers has one id, by which only the first of them can be woken
      const startOne = async () => {
        const options = { pollingIntervalSeconds: pollS, includeMetadata: true } as const;
        const id = await boss.work(queue, options, async ([job]) => {
          busy.add(id);
          wakeOne(queue);
          try {
            if (job) await handler(job.singletonKey ?? "", AbortSignal.any([job.signal, stopping]));
          } finally {
            busy.delete(id);
            // it fetches the next job as soon as the result of this one is recorded
            boss.notifyWorker(id);
          }
        });
        return id;
      };
      queues.set(queue, { ids: await Promise.all(Array.from({ length: atOnce }, startOne)), busy });
    },
    wakeOne,
    wakeAll(queue) {
      for (const id of queues.get(queue)?.ids ?? []) boss.notifyWorker(id);
    },
  };

  function wakeOne(queue: string): void {
    const { ids = [], busy } = queues.get(queue) ?? {};
    const free = ids.find((id) => !busy?.has(id));
    if (free !== undefined) boss.notifyWorker(free);
  }
}
