import { SvcError } from "../../contract/errors.ts";
import { within } from "../../lib/within.ts";
import { packetLength } from "../remote/pkt-line.ts";

/** Reads the body of a client's request, with limits on its size, its time and the pauses within it. */
export interface RequestReader {
  /** The next bytes; null at the end. */
  read(): Promise<Uint8Array | null>;
  /** The payload of the next packet; null for a flush. */
  packet(): Promise<Uint8Array | null>;
  /** Exactly `length` bytes, or fewer at the end, without consuming them. */
  peek(length: number): Promise<Uint8Array>;
  /** Reads and discards the rest: clients read the answer only after they have sent everything. */
  drain(): Promise<void>;
  /** Settles when the client has sent everything or has disconnected. */
  readonly finished: Promise<void>;
}

/**
 * @throws SvcError from each of its functions: `payload_too_large`, `request_timeout`, `validation_failed` (a
 *   missing packet, an invalid encoding, or the client has disconnected)
 */
export function createRequestReader(
  stream: ReadableStream<Uint8Array>,
  limits: { maxBytes: number; stallMs: number; transferMs: number },
): RequestReader {
  const end = performance.now() + limits.transferMs;
  const reader = stream.getReader();
  let ahead: Buffer = Buffer.alloc(0);
  let bytes = 0;
  let ended = false;
  const finished = Promise.withResolvers<void>();

  return {
    read,
    packet,
    peek,
    async drain() {
      while ((await read()) !== null);
    },
    finished: finished.promise,
  };

  async function read(): Promise<Uint8Array | null> {
    if (ahead.length === 0) return await pull();
    const piece = ahead;
    ahead = Buffer.alloc(0);
    return piece;
  }

  async function pull(): Promise<Uint8Array | null> {
    if (ended) return null;
    try {
      const patienceMs = Math.min(limits.stallMs, end - performance.now());
      const { done, value } = await within(reader.read(), patienceMs, silent);
      bytes += value?.byteLength ?? 0;
      if (bytes > limits.maxBytes) throw tooLarge(limits.maxBytes);
      if (!done) return value;
    } catch (error) {
      reader.cancel(error).catch(() => {});
      finished.resolve();
      throw error instanceof SvcError ? error : broken();
    }
    ended = true;
    finished.resolve();
    return null;
  }

  async function peek(length: number): Promise<Uint8Array> {
    while (ahead.length < length) {
      const piece = await pull();
      if (piece === null) break;
      ahead = ahead.length === 0 ? Buffer.from(piece) : Buffer.concat([ahead, piece]);
    }
    return ahead.subarray(0, length);
  }

  async function packet(): Promise<Uint8Array | null> {
    const length = packetLength(await peek(4));
    if (length === null || (length > 0 && length < 4)) throw malformed();
    const whole = await peek(Math.max(length, 4));
    if (whole.byteLength < length) throw malformed();
    ahead = ahead.subarray(Math.max(length, 4));
    return length === 0 ? null : whole.subarray(4);
  }
}

function tooLarge(maxBytes: number): SvcError {
  const mib = Math.floor(maxBytes / 1024 / 1024);
  return new SvcError(
    "payload_too_large",
    `The request is larger than ${mib} MiB, the limit of this server.`,
  );
}

function silent(): SvcError {
  return new SvcError("request_timeout", "The client sent nothing for too long.");
}

function broken(): SvcError {
  return new SvcError(
    "validation_failed",
    "The request is incomplete or does not match its Content-Encoding.",
  );
}

function malformed(): SvcError {
  return new SvcError("validation_failed", "The request is not a valid git request.");
}
