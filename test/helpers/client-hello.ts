/** A TLS ClientHello (RFC 8446, 4.1.2) with these server names, as the bytes of its records. */
export function clientHello(names: readonly string[], recordBytes = 16_384): Buffer {
  const list = Buffer.concat(
    names.map((name) => Buffer.concat([Buffer.of(0), prefixed(2, Buffer.from(name))])),
  );
  const extension = (type: number, data: Buffer) => Buffer.concat([number(2, type), prefixed(2, data)]);
  const extensions = Buffer.concat([
    extension(43, Buffer.from([2, 3, 4])),
    ...(names.length > 0 ? [extension(0, prefixed(2, list))] : []),
  ]);
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    prefixed(1, Buffer.alloc(32, 8)),
    prefixed(2, Buffer.from([0x13, 0x01])),
    prefixed(1, Buffer.of(0)),
    prefixed(2, extensions),
  ]);
  const message = Buffer.concat([Buffer.of(1), prefixed(3, body)]);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += recordBytes)
    records.push(
      Buffer.concat([Buffer.from([22, 3, 1]), prefixed(2, message.subarray(at, at + recordBytes))]),
    );
  return Buffer.concat(records);
}

function prefixed(size: number, bytes: Buffer): Buffer {
  return Buffer.concat([number(size, bytes.length), bytes]);
}

function number(size: number, value: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}
