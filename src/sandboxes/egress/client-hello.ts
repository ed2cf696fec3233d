/** What the first bytes of a connection are: TLS with the name of a server, or none; another protocol; or too few to tell. */
export type Opening = { is: "tls"; serverName: string | null } | { is: "other" } | { is: "incomplete" };

/** Several times the largest ClientHello of browsers, with keys for post-quantum algorithms. */
export const HELLO_MAX_BYTES = 32 * 1024;

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/**
 * Reads the server name of a TLS ClientHello (RFC 8446, 4.1.2 and 5.1; RFC 6066, 3), which may come in several records.
 * Whatever is malformed or given twice is `other`.
 */
export function readOpening(bytes: Buffer): Opening {
  if (bytes.length === 0) return { is: "incomplete" };
  if (bytes[0] !== HANDSHAKE) return { is: "other" };
  const message = handshakeIn(bytes);
  if (message === "other") return { is: "other" };
  if (message === "incomplete") return { is: bytes.length > HELLO_MAX_BYTES ? "other" : "incomplete" };
  try {
    const serverName = serverNameOf(message);
    return { is: "tls", serverName };
  } catch {
    return { is: "other" };
  }
}

/** The body of the first handshake message, joined from its records. */
function handshakeIn(bytes: Buffer): Buffer | "incomplete" | "other" {
  const parts: Buffer[] = [];
  for (let at = 0, size = 0; ; ) {
    if (bytes.length < at + 5) return "incomplete";
    if (bytes[at] !== HANDSHAKE || bytes[at + 1] !== 3) return "other";
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0) return "other";
    const part = bytes.subarray(at + 5, at + 5 + length);
    parts.push(part);
    size += part.length;
    const joined = Buffer.concat(parts);
    if (size > 0 && joined[0] !== CLIENT_HELLO) return "other";
    if (size >= 4) {
      const whole = joined.readUIntBE(1, 3);
      if (whole > HELLO_MAX_BYTES) return "other";
      if (size >= 4 + whole) return joined.subarray(4, 4 + whole);
    }
    if (part.length < length) return "incomplete";
    at += 5 + length;
  }
}

/** @throws when it is malformed, or names more than one server */
function serverNameOf(hello: Buffer): string | null {
  const reader = readerOf(hello);
  reader.skip(2 + 32);
  reader.take(1);
  reader.take(2);
  reader.take(1);
  if (reader.isAtEnd()) return null;
  const extensions = readerOf(reader.take(2));
  const names: string[] = [];
  while (!extensions.isAtEnd()) {
    const type = extensions.number(2);
    const data = extensions.take(2);
    if (type !== SERVER_NAME) continue;
    const list = readerOf(readerOf(data).take(2));
    while (!list.isAtEnd()) {
      if (list.number(1) !== HOST_NAME) throw new Error("a server name of an unknown kind");
      names.push(list.take(2).toString("latin1"));
    }
  }
  if (names.length > 1) throw new Error("more than one server name");
  return names[0] ?? null;
}

/** Reads numbers and length-prefixed parts. Each throws when there are too few bytes. */
function readerOf(bytes: Buffer) {
  let at = 0;
  const number = (size: number): number => {
    const value = bytes.readUIntBE(at, size);
    at += size;
    return value;
  };
  return {
    number,
    skip(size: number): void {
      at += size;
    },
    /** @param prefix the bytes of the length */
    take(prefix: number): Buffer {
      const size = number(prefix);
      if (at + size > bytes.length) throw new Error("too short");
      at += size;
      return bytes.subarray(at - size, at);
    },
    isAtEnd: () => at >= bytes.length,
  };
}
