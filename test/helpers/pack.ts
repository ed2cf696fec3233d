import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";

const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4, "ofs-delta": 6, "ref-delta": 7 } as const;

/** A handmade entry of a pack, which may be invalid. */
export interface PackEntry {
  type: keyof typeof TYPES;
  data: Uint8Array;
  /** The declared size, if not that of the data. */
  size?: bigint;
  /** What a delta is made from: an object's id, or how many bytes before this entry it begins. */
  base?: string | number;
  /** Compressed data, instead of `data` compressed. */
  raw?: Uint8Array;
}

/** A pack (gitformat-pack). `count` is the number of objects that it says to have. */
export function packOf(entries: readonly PackEntry[], count = entries.length, version = 2): Buffer {
  const header = Buffer.alloc(12);
  header.write("PACK");
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(count, 8);
  const body = Buffer.concat([header, ...entries.map(entryOf)]);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

function entryOf({ type, data, size = BigInt(data.byteLength), base, raw }: PackEntry): Buffer {
  const head = [(TYPES[type] << 4) | Number(size & 15n)];
  for (let rest = size >> 4n; rest > 0n; rest >>= 7n) {
    head[head.length - 1] = (head.at(-1) ?? 0) | 128;
    head.push(Number(rest & 127n));
  }
  const origin =
    typeof base === "string" ? Buffer.from(base, "hex") : base === undefined ? Buffer.alloc(0) : offset(base);
  return Buffer.concat([Buffer.from(head), origin, raw ?? deflateSync(data)]);
}

function offset(distance: number): Buffer {
  const bytes = [distance & 127];
  for (let rest = distance >> 7; rest > 0; rest >>= 7) bytes.unshift((--rest & 127) | 128);
  return Buffer.from(bytes);
}

/** The id of an object. */
export function idOf(type: "commit" | "tree" | "blob" | "tag", data: Uint8Array): string {
  return createHash("sha1").update(`${type} ${data.byteLength}\0`).update(data).digest("hex");
}

/** A tree of entries as they are given, sorted or not, allowed or not. */
export function treeOf(entries: readonly { mode: string; name: string; id: string }[]): Buffer {
  return Buffer.concat(
    entries.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]),
  );
}

export function commitOf(
  tree: string,
  parents: readonly string[] = [],
  author = "A <a@example.com> 1700000000 +0000",
) {
  const lines = [
    `tree ${tree}`,
    ...parents.map((id) => `parent ${id}`),
    `author ${author}`,
    `committer ${author}`,
  ];
  return Buffer.from(`${lines.join("\n")}\n\nwork\n`);
}

/** A delta (gitformat-pack, "Deltified representation") of copies out of its base: from where and how many bytes. */
export function deltaOf(
  baseSize: number,
  resultSize: number,
  copies: readonly [from: number, bytes: number][],
): Buffer {
  const ops = copies.map(([from, bytes]) => {
    const op = Buffer.alloc(8);
    op[0] = 0xff;
    op.writeUInt32LE(from, 1);
    op.writeUIntLE(bytes, 5, 3);
    return op;
  });
  return Buffer.concat([varint(baseSize), varint(resultSize), ...ops]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}
