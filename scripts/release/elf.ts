import { FormatError, parseFormat, textAt, uint64, viewOf } from "./bytes.ts";

/** What a Linux program needs from a machine. */
export interface Elf {
  machine: "x64" | "arm64";
  /** The dynamic loader. */
  interpreter: string;
  /** The shared libraries, in the file's order. */
  needed: string[];
  /** The symbol versions of the libraries, such as `GLIBC_2.17`, sorted. */
  versions: string[];
}

const MACHINES: Readonly<Record<number, Elf["machine"]>> = { 62: "x64", 183: "arm64" };
const [PT_LOAD, PT_DYNAMIC, PT_INTERP] = [1, 2, 3];
const [DT_NEEDED, DT_STRTAB, DT_VERNEED, DT_VERNEEDNUM] = [1, 5, 0x6ffffffe, 0x6fffffff];
const NAME_MAX = 256;
/** Limits of tables whose length the file says. */
const ENTRIES_MAX = 10_000;

interface Segment {
  type: number;
  offset: number;
  address: number;
  size: number;
}

/**
 * Reads the headers of a dynamically linked 64-bit ELF program (System V ABI, gABI 4.1).
 * @throws FormatError
 */
export function readElf(bytes: Uint8Array): Elf {
  return parseFormat("ELF file", () => {
    const view = viewOf(bytes);
    if (view.getUint32(0) !== 0x7f454c46 || view.getUint16(4) !== 0x0201)
      throw new FormatError("not a 64-bit little-endian ELF file");
    const machine = MACHINES[view.getUint16(18, true)];
    if (!machine) throw new FormatError(`unknown machine ${view.getUint16(18, true)}`);
    const segments = segmentsOf(view);
    const interpreter = segments.find(({ type }) => type === PT_INTERP);
    const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
    if (!interpreter || !dynamic) throw new FormatError("not dynamically linked");
    const { needed, versions } = librariesOf(bytes, segments, dynamic);
    const path = textAt(bytes, interpreter.offset, interpreter.offset + interpreter.size);
    return { machine, interpreter: path, needed, versions };
  });
}

function segmentsOf(view: DataView): Segment[] {
  const [start, size, count] = [uint64(view, 32), view.getUint16(54, true), view.getUint16(56, true)];
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * size;
    return {
      type: view.getUint32(at, true),
      offset: uint64(view, at + 8),
      address: uint64(view, at + 16),
      size: uint64(view, at + 32),
    };
  });
}

function librariesOf(bytes: Uint8Array, segments: readonly Segment[], dynamic: Segment) {
  const view = viewOf(bytes);
  const entries: [tag: number, value: number][] = [];
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
    const tag = uint64(view, at);
    if (tag === 0) break;
    entries.push([tag, uint64(view, at + 8)]);
  }
  const table = new Map(entries);
  const strings = offsetOf(segments, table.get(DT_STRTAB));
  const string = (index: number) => textAt(bytes, strings + index, strings + index + NAME_MAX);
  const needed = entries.filter(([tag]) => tag === DT_NEEDED).map(([, index]) => string(index));
  const versions = new Set<string>();
  const count = table.get(DT_VERNEEDNUM) ?? 0;
  let at = count > 0 ? offsetOf(segments, table.get(DT_VERNEED)) : 0;
  for (let i = 0; i < count && i < ENTRIES_MAX; i++) {
    let entry = at + view.getUint32(at + 8, true);
    for (let j = 0; j < view.getUint16(at + 2, true); j++) {
      versions.add(string(view.getUint32(entry + 8, true)));
      entry += view.getUint32(entry + 12, true);
    }
    at += view.getUint32(at + 12, true);
  }
  return { needed, versions: [...versions].sort() };
}

/** The place in the file of an address in memory. */
function offsetOf(segments: readonly Segment[], address: number | undefined): number {
  const segment = segments.find(
    (each) =>
      each.type === PT_LOAD &&
      address !== undefined &&
      address >= each.address &&
      address < each.address + each.size,
  );
  if (!segment || address === undefined) throw new FormatError("a table of the dynamic linker is missing");
  return address - segment.address + segment.offset;
}
