import type { Socket } from "bun";

/** Writes to a socket in order, and buffers what the socket does not take. */
export interface SocketWriter {
  /** @returns false when the caller should wait for `onDrained` */
  write(bytes: Uint8Array): boolean;
  /** The same for latin1 text. */
  writeText(text: string): boolean;
  /** Ends this side of the connection once everything is written. */
  finish(): void;
  /** Called on the socket's `drain` event. */
  drain(): void;
  readonly isFull: boolean;
}

/** @param onDrained called when the buffer has been written */
export function createSocketWriter<T>(socket: Socket<T>, onDrained: () => void): SocketWriter {
  const waiting: Uint8Array[] = [];
  let finished = false;

  return {
    write,
    writeText,
    finish() {
      finished = true;
      if (waiting.length === 0) socket.shutdown();
    },
    drain() {
      for (let [first] = waiting; first; [first] = waiting) {
        const written = Math.max(socket.write(first), 0);
        if (written < first.length) {
          waiting[0] = first.subarray(written);
          return;
        }
        waiting.shift();
      }
      if (finished) socket.shutdown();
      else onDrained();
    },
    get isFull() {
      return waiting.length > 0;
    },
  };

  function write(bytes: Uint8Array): boolean {
    if (waiting.length === 0) {
      const written = socket.write(bytes);
      if (written >= bytes.length) return true;
      // the memory of a socket event's bytes is released after the event
      waiting.push(new Uint8Array(bytes.subarray(Math.max(written, 0))));
    } else {
      waiting.push(new Uint8Array(bytes));
    }
    return false;
  }

  /** Reuses one buffer: one for each head would be most of the work of the garbage collector. */
  function writeText(text: string): boolean {
    if (waiting.length > 0 || text.length > SCRATCH.length) return write(Buffer.from(text, "latin1"));
    SCRATCH.write(text, "latin1");
    const written = Math.max(socket.write(SCRATCH, 0, text.length), 0);
    if (written === text.length) return true;
    waiting.push(Buffer.from(text.slice(written), "latin1"));
    return false;
  }
}

const SCRATCH = Buffer.alloc(64 * 1024);
