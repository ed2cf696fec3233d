import { blockedOnQueue } from "./blocked.ts";
import type { Progress } from "./progress.ts";
import type { RunRow } from "./row.ts";
import type { StartQueue } from "./start-queue.ts";

/** The slot of one start among those of its server. */
export interface Slot {
  /** Waits for a slot, which may take hours. @throws the signal's reason */
  take(): Promise<void>;
  /** Gives the slot back; may be called without one. */
  leave(): void;
}

export function openSlot(queue: StartQueue, run: RunRow, { enter }: Progress, signal: AbortSignal): Slot {
  let leave = () => {};
  return {
    async take() {
      leave();
      leave = await queue.enter(run, signal, (place) => {
        // the places may have been written before the step
        const waits = enter("waiting", blockedOnQueue(place).message).then(() => queue.report());
        // an error is reported by the next step
        waits.catch(() => {});
      });
    },
    leave: () => leave(),
  };
}
