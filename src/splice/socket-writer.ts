import type { Socket } from "bun";

/** What is written to a socket, in order. It says when it is full, and is drained by the socket's own event. */
export interface SocketWriter {
  /** @returns false when whoever writes should wait for `onDrained` */
  write(bytes: Uint8Array): boolean;
  /** The same for a text of which each character is a byte (latin1). */
  writeText(text: string): boolean;
  /** Says that nothing more comes, once all is written. */
  finish(): void;
  /** To be called by the socket's `drain`. */
  drain(): void;
  readonly isFull: boolean;
}

/** @param onDrained called when all that waited has been written */
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
      // the memory of what a socket's event brings is given back when the event is over
      waiting.push(new Uint8Array(bytes.subarray(Math.max(written, 0))));
    } else {
      waiting.push(new Uint8Array(bytes));
    }
    return false;
  }

  /** A buffer of its own for each head would be most of what the collector has to do. */
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
