/** The workers of this server, each of which runs one job at a time. They fetch a job only when they are woken. */
export interface Workers {
  /**
   * Starts a worker of a queue; the others start when no worker is free.
   * @param handler its signal is aborted when the server stops
   * @param atOnce how many workers there are at most
   */
  start(
    queue: string,
    handler: (key: string, signal: AbortSignal) => Promise<void>,
    atOnce: number,
  ): Promise<void>;
  /** Wakes a worker that has no job. If it finds one, it wakes the next. */
  wakeOne(queue: string): void;
  /** Wakes all workers, and starts another. */
  wakeAll(queue: string): void;
  /** Waits until all workers have recorded the results of their jobs. */
  end(): Promise<void>;
}

/** What the workers use of pg-boss. */
interface Boss {
  work(
    queue: string,
    options: { pollingIntervalSeconds: number; includeMetadata: true },
    handler: (jobs: { singletonKey: string | null; signal: AbortSignal }[]) => Promise<void>,
  ): Promise<string>;
  notifyWorker(id: string): void;
  offWork(queue: string): Promise<void>;
}

interface Queue {
  /** The ids of its workers, and of those that have a job. */
  ids: string[];
  busy: Set<string>;
  /** Starts another worker; null: there are as many as there may be. */
  startOne: () => Promise<void> | null;
}

/** @param pollS the interval in which they fetch without being woken */
export function createWorkers(boss: Boss, pollS: number, stopping: AbortSignal): Workers {
  const queues = new Map<string, Queue>();

  return {
    async start(name, handler, atOnce) {
      const queue: Queue = { ids: [], busy: new Set(), startOne };
      let started = 0;
      queues.set(name, queue);
      await startOne();

      function startOne(): Promise<void> | null {
        // pg-boss refuses workers once it stops
        if (started >= atOnce || stopping.aborted) return null;
        started++;
        return work(name, queue, handler);
      }
    },
    wakeOne,
    wakeAll(name) {
      const queue = queues.get(name);
      for (const id of queue?.ids ?? []) boss.notifyWorker(id);
      // one whose connection does not answer cannot be woken
      void queue?.startOne();
    },
    async end() {
      await Promise.all([...queues.keys()].map((name) => boss.offWork(name)));
    },
  };

  /** One call for several workers would have one id, by which only the first of them can be woken. */
  async function work(name: string, queue: Queue, handler: Parameters<Workers["start"]>[1]): Promise<void> {
    const options = { pollingIntervalSeconds: pollS, includeMetadata: true } as const;
    const id = await boss.work(name, options, async ([job]) => {
      queue.busy.add(id);
      wakeOne(name);
      try {
        if (job) await handler(job.singletonKey ?? "", AbortSignal.any([job.signal, stopping]));
      } finally {
        queue.busy.delete(id);
        // it fetches the next job as soon as the result of this one is recorded
        boss.notifyWorker(id);
      }
    });
    queue.ids.push(id);
  }

  function wakeOne(name: string): void {
    const queue = queues.get(name);
    const free = queue?.ids.find((id) => !queue.busy.has(id));
    if (free !== undefined) boss.notifyWorker(free);
    // a worker fetches when it starts
    else void queue?.startOne();
  }
}
