import { FormatError, parseFormat, textAt, viewOf } from "./bytes.ts";

/** The headers of a Windows program. */
export interface Pe {
  machine: "x64";
  subsystem: "console" | "windows";
  sections: { name: string; offset: number; size: number }[];
}

const MACHINE_X64 = 0x8664;
const PE32_PLUS = 0x20b;
const SUBSYSTEMS: Readonly<Record<number, Pe["subsystem"]>> = { 2: "windows", 3: "console" };
const SECTION_HEADER_BYTES = 40;

/**
 * Reads the headers of a 64-bit Windows program (Microsoft's PE format specification), and checks that its sections are
 * inside of the file and do not overlap.
 * @throws FormatError
 */
export function readPe(bytes: Uint8Array): Pe {
  return parseFormat("PE file", () => {
    const view = viewOf(bytes);
    if (view.getUint16(0) !== 0x4d5a) throw new FormatError("not a Windows program");
    const start = view.getUint32(0x3c, true);
    if (view.getUint32(start) !== 0x50450000) throw new FormatError("not a PE file");
    if (view.getUint16(start + 4, true) !== MACHINE_X64) throw new FormatError("not for x64");
    const optional = start + 24;
    if (view.getUint16(optional, true) !== PE32_PLUS) throw new FormatError("not a 64-bit program");
    const subsystem = SUBSYSTEMS[view.getUint16(optional + 68, true)];
    if (!subsystem) throw new FormatError("unknown subsystem");
    const table = optional + view.getUint16(start + 20, true);
    const sections = Array.from({ length: view.getUint16(start + 6, true) }, (_, i) => {
      const at = table + i * SECTION_HEADER_BYTES;
      const [size, offset] = [view.getUint32(at + 16, true), view.getUint32(at + 20, true)];
      return { name: textAt(bytes, at, at + 8), offset, size };
    });
    checkSections(sections, bytes.length);
    return { machine: "x64", subsystem, sections };
  });
}

function checkSections(sections: Pe["sections"], length: number): void {
  let end = 0;
  for (const { name, offset, size } of sections
    .filter((section) => section.size > 0)
    .sort((a, b) => a.offset - b.offset)) {
    if (offset < end) throw new FormatError(`section ${name} overlaps another`);
    end = offset + size;
    if (end > length) throw new FormatError(`section ${name} ends beyond the file`);
  }
}
