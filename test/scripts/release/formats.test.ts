import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ROOT } from "../../../scripts/binaries.ts";
import { FormatError } from "../../../scripts/release/bytes.ts";
import { readElf } from "../../../scripts/release/elf.ts";
import { inspectProgram } from "../../../scripts/release/inspect.ts";
import { checkPageHashes, readMachO } from "../../../scripts/release/macho.ts";
import { signAdHoc } from "../../../scripts/release/macho-sign.ts";
import { readPe } from "../../../scripts/release/pe.ts";
import { fc } from "../../helpers/property.ts";

// programs and libraries of other systems, from packages that are installed on every machine
const prebuild = (path: string) =>
  Bun.file(join(ROOT, "node_modules/lzma-native/prebuilds", path, "node.napi.node")).bytes();
const MACHO = await prebuild("darwin-arm64");
const UNSIGNED_MACHO = await prebuild("darwin-x64");
const PE = await prebuild("win32-x64");
const PE_32 = await prebuild("win32-ia32");
const LIBRARY = await prebuild("linux-arm64");
const PROGRAM = await Bun.file(process.execPath).bytes();

const changed = (bytes: Uint8Array, changes: Readonly<Record<number, number>>) => {
  const copy = bytes.slice();
  for (const [at, value] of Object.entries(changes)) copy[Number(at)] = value;
  return copy;
};

/** Damages headers, and requires that a parser either accepts them or says that they are damaged. */
function survives(read: (bytes: Uint8Array) => unknown, bytes: Uint8Array, headers: number): void {
  const change = fc.tuple(fc.nat(headers - 1), fc.nat(255));
  fc.assert(
    fc.property(
      fc.array(change, { minLength: 1, maxLength: 8 }),
      fc.nat(headers),
      fc.boolean(),
      (changes, end, cut) => {
        const damaged = changed(
          cut ? bytes.subarray(0, end) : bytes.subarray(0, 500_000),
          Object.fromEntries(changes),
        );
        try {
          read(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
        }
      },
    ),
    { numRuns: 300 },
  );
}

describe("ELF", () => {
  test("the needs of a real program are read", () => {
    const elf = readElf(PROGRAM);
    expect(elf.machine).toBe(process.arch === "arm64" ? "arm64" : "x64");
    expect(elf.interpreter).toMatch(/^\/lib(64)?\/ld-(linux|musl)-[a-z0-9_-]+\.so\.\d$/);
    expect(elf.needed.some((name) => /^libc\./.test(name))).toBe(true);
  });

  test("and are compared with the platform's", () => {
    const platform = process.arch === "arm64" ? "linux-arm64" : "linux-x64";
    const other = process.arch === "arm64" ? "linux-x64" : "linux-arm64";
    expect(inspectProgram(PROGRAM, platform)).toStartWith(`ELF ${process.arch}`);
    expect(() => inspectProgram(PROGRAM, other)).toThrow(`the program is for ${process.arch}`);
    expect(() => inspectProgram(PROGRAM, `${platform}-musl`)).toThrow("has the interpreter");
  });

  test("a program that requires another library or a newer glibc is refused", () => {
    const replaced = (from: string, to: string) => {
      const copy = Buffer.from(PROGRAM);
      for (let at = copy.indexOf(from); at >= 0; at = copy.indexOf(from, at + 1))
        copy.write(to, at, "latin1");
      return copy;
    };
    const platform = process.arch === "arm64" ? "linux-arm64" : "linux-x64";
    expect(() => inspectProgram(replaced("libm.so.6\0", "libx.so.6\0"), platform)).toThrow("needs libx.so.6");
    expect(() => inspectProgram(replaced("GLIBC_2.17\0", "GLIBC_2.18\0"), platform)).toThrow(
      "needs GLIBC_2.18",
    );
  });

  test.each([
    ["an empty file", new Uint8Array()],
    ["a script", new TextEncoder().encode("#!/bin/sh\necho a script, not a program, that is long enough\n")],
    ["a 32-bit program", changed(PROGRAM.subarray(0, 4096), { 4: 1 })],
    ["another processor", changed(PROGRAM.subarray(0, 4096), { 18: 8, 19: 0 })],
    ["a library, which has no interpreter", LIBRARY],
    ["the first page of a program", PROGRAM.subarray(0, 4096)],
  ])("%s is refused", (_what, bytes) => expect(() => readElf(bytes)).toThrow(FormatError));

  test("a damaged file does not break the parser", () => survives(readElf, PROGRAM, 1024));
});

describe("PE", () => {
  test("the sections of a real file are read", () => {
    const { machine, sections } = readPe(PE);
    expect(machine).toBe("x64");
    expect(sections.map(({ name }) => name)).toContain(".text");
  });

  test("a program of Bun has a section with its code", () => {
    expect(() => inspectProgram(PE, "windows-x64")).toThrow("has no section .bun");
  });

  test.each([
    ["an empty file", new Uint8Array()],
    ["a file for 32-bit machines", PE_32],
    ["a file that ends in a section", PE.subarray(0, PE.length - 1)],
    ["an ELF file", LIBRARY],
  ])("%s is refused", (_what, bytes) => expect(() => readPe(bytes)).toThrow(FormatError));

  test("a damaged file does not break the parser", () => survives(readPe, PE, 1024));
});

describe("Mach-O", () => {
  const { signature, segments } = readMachO(MACHO);

  test("the page hashes of a real file match", () => {
    const { pages, wrong, isComplete } = checkPageHashes(MACHO);
    expect({ pages, wrong, isComplete }).toEqual({
      pages: Math.ceil(signature.offset / 4096),
      wrong: 0,
      isComplete: true,
    });
  });

  test.each([
    ["the first byte after the headers", 32_768],
    ["the last byte before the signature", signature.offset - 1],
  ])("a change of %s is found", (_what, at) => {
    const copy = changed(MACHO, { [at]: (MACHO[at] ?? 0) ^ 1 });
    expect(checkPageHashes(copy)).toMatchObject({ wrong: 1, isComplete: true });
  });

  test("a program of Bun has a segment with its code, and matching page hashes", () => {
    expect(() => inspectProgram(MACHO, "macos-arm64")).toThrow("has no segment __BUN");
    const data = segments.find(({ name }) => name === "__DATA");
    const renamed = MACHO.slice();
    renamed.set(Buffer.from("__BUN\0"), (data?.command ?? 0) + 8);
    const signed = signAdHoc(renamed, "svc");
    expect(inspectProgram(signed, "macos-arm64")).toBe("Mach-O arm64, 57 page hashes match");
    expect(() => inspectProgram(signed, "macos-x64")).toThrow("is for arm64");
    expect(() => inspectProgram(renamed, "macos-arm64")).toThrow("has 1 of 57 page hashes wrong");
  });

  test("an ad hoc signature is valid, and changes only sizes in the headers", () => {
    const broken = changed(MACHO, { 40000: (MACHO[40_000] ?? 0) ^ 1 });
    const signed = signAdHoc(broken, "svc");
    expect(checkPageHashes(signed)).toMatchObject({ wrong: 0, isComplete: true });
    const linkedit = segments.find(({ name }) => name === "__LINKEDIT");
    const sizes = [signature.command + 12, (linkedit?.command ?? 0) + 32, (linkedit?.command ?? 0) + 48];
    for (let at = 0; at < signature.offset; at++)
      if (signed[at] !== broken[at]) expect(sizes.some((start) => at >= start && at < start + 8)).toBe(true);
    const again = readMachO(signed);
    expect(again.signature.offset + again.signature.size).toBe(signed.length);
    expect(again.segments.find(({ name }) => name === "__LINKEDIT")?.size).toBe(
      signed.length - (linkedit?.offset ?? 0),
    );
    expect(signAdHoc(signed, "svc")).toEqual(signed);
    expect(Buffer.from(signed).includes("svc\0")).toBe(true);
  });

  test.each([
    ["an empty file", new Uint8Array()],
    ["an unsigned file", UNSIGNED_MACHO],
    ["a file that ends in the signature", MACHO.subarray(0, signature.offset + 100)],
    ["a signature of another format", changed(MACHO, { [signature.offset]: 0 })],
    ["an ELF file", LIBRARY],
  ])("%s is refused", (_what, bytes) => expect(() => checkPageHashes(bytes)).toThrow(FormatError));

  test("damaged headers and signatures do not break the parser", () => {
    survives(checkPageHashes, MACHO, 2048);
    const tail = MACHO.subarray(signature.offset);
    survives(
      (bytes) => checkPageHashes(Buffer.concat([MACHO.subarray(0, signature.offset), bytes])),
      tail,
      128,
    );
  });
});
