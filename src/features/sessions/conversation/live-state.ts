import { sleep } from "../../../conversation/reconnect.ts";

/** Bytes of events that are kept until a state has been read: minutes of an agent's work. */
const EARLY_MAX_BYTES = 4 * 1024 * 1024;
/** The first delay after a failed reading, unless an event comes; it doubles up to the second. */
const RETRY_MS = { first: 500, most: 10_000 };

interface Applies {
  applyEvent(event: unknown): void;
}

/** A state that is read once, and then kept current. */
export interface LiveState {
  /** @param size bytes of the event */
  applyEvent(event: unknown, size: number): void;
  /** Ignores what is still being read. */
  end(): void;
}

/**
 * Keeps a state current by events. Those from before it has been read are kept, and applied to it together, so that none
 * is lost, however long the reading takes and however often it fails: it is repeated with the next event, or after a while.
 * @param read null: it does not exist yet, or cannot be read
 * @param onChange called after each event
 * @param onError what `read`, or the first `onChange`, throws
 */
export function createLiveState<T extends Applies>(
  read: () => Promise<T | null>,
  onChange: (state: T) => void,
  onError: (error: unknown) => void,
): LiveState {
  let state: T | null = null;
  let early: { event: unknown; size: number }[] = [];
  let bytes = 0;
  let isOver = false;
  /** Aborted by the next event, if there is one since the last reading began. */
  let delayed: AbortController | null = null;

  return {
    applyEvent(event, size) {
      if (state) {
        state.applyEvent(event);
        onChange(state);
        return;
      }
      keep(event, size);
      if (delayed) delayed.abort();
      else readState().catch(onError);
    },
    end() {
      isOver = true;
      early = [];
      delayed?.abort();
    },
  };

  function keep(event: unknown, size: number): void {
    early.push({ event, size });
    bytes += size;
    while (bytes > EARLY_MAX_BYTES) bytes -= early.shift()?.size ?? bytes;
  }

  async function readState(): Promise<void> {
    for (let delay = RETRY_MS.first; !isOver; delay = Math.min(2 * delay, RETRY_MS.most)) {
      delayed = new AbortController();
      const found = await read();
      if (found && !isOver) {
        for (const { event } of early) found.applyEvent(event);
        early = [];
        state = found;
        onChange(state);
        return;
      }
      await sleep(delay, delayed.signal);
    }
  }
}
