import { createHash } from "node:crypto";
import { FormatError, parseFormat, textAt, uint64, viewOf } from "./bytes.ts";

/** The headers of a macOS program. Offsets and sizes are bytes in the file. */
export interface MachO {
  machine: "x64" | "arm64";
  segments: { name: string; offset: number; size: number; command: number }[];
  /** The code signature, and the place of its load command. */
  signature: { offset: number; size: number; command: number };
}

/** The result of hashing a program again. */
export interface PageHashes {
  pages: number;
  /** The pages whose hash in the signature is not that of their bytes: macOS kills a program that uses one. */
  wrong: number;
  /** Whether the hashes reach up to the signature. */
  isComplete: boolean;
}

const MAGIC_64 = 0xfeedfacf;
const MACHINES: Readonly<Record<number, MachO["machine"]>> = { 16777223: "x64", 16777228: "arm64" };
const [LC_SEGMENT_64, LC_CODE_SIGNATURE] = [0x19, 0x1d];
const HEADER_BYTES = 32;
const [SUPER_BLOB, CODE_DIRECTORY] = [0xfade0cc0, 0xfade0c02];
const BLOBS_MAX = 100;
/** The hash types of code directories: name of the digest and bytes kept of it. */
const HASHES: Readonly<Record<number, [digest: string, bytes: number]>> = {
  1: ["sha1", 20],
  2: ["sha256", 32],
  3: ["sha256", 20],
};

/**
 * Reads the headers of a signed 64-bit Mach-O program (`mach-o/loader.h`).
 * @throws FormatError
 */
export function readMachO(bytes: Uint8Array): MachO {
  return parseFormat("Mach-O file", () => {
    const view = viewOf(bytes);
    if (view.getUint32(0, true) !== MAGIC_64) throw new FormatError("not a 64-bit Mach-O file");
    const machine = MACHINES[view.getUint32(4, true)];
    if (!machine) throw new FormatError("unknown processor");
    const segments: MachO["segments"] = [];
    let signature: MachO["signature"] | null = null;
    let at = HEADER_BYTES;
    for (let i = 0; i < view.getUint32(16, true); i++) {
      const [kind, size] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
      if (size < 8) throw new FormatError("a load command is too short");
      if (kind === LC_SEGMENT_64) {
        const name = textAt(bytes, at + 8, at + 24);
        segments.push({ name, offset: uint64(view, at + 40), size: uint64(view, at + 48), command: at });
      }
      if (kind === LC_CODE_SIGNATURE)
        signature = {
          offset: view.getUint32(at + 8, true),
          size: view.getUint32(at + 12, true),
          command: at,
        };
      at += size;
    }
    if (!signature) throw new FormatError("not signed");
    if (signature.offset + signature.size > bytes.length)
      throw new FormatError("the signature ends beyond the file");
    return { machine, segments, signature };
  });
}

/**
 * Hashes the pages of a program, and compares them with each code directory of its signature (`cs_blobs.h`).
 * @throws FormatError
 */
export function checkPageHashes(bytes: Uint8Array): PageHashes {
  const { signature } = readMachO(bytes);
  return parseFormat("code signature", () => {
    const blob = viewOf(bytes.subarray(signature.offset, signature.offset + signature.size));
    if (blob.getUint32(0) !== SUPER_BLOB) throw new FormatError("the code signature has another format");
    const total: PageHashes = { pages: 0, wrong: 0, isComplete: true };
    for (let i = 0; i < Math.min(blob.getUint32(8), BLOBS_MAX); i++) {
      const at = blob.getUint32(12 + i * 8 + 4);
      if (blob.getUint32(at) !== CODE_DIRECTORY) continue;
      const found = checkDirectory(bytes, viewOf(bytes.subarray(signature.offset + at)), signature.offset);
      total.pages += found.pages;
      total.wrong += found.wrong;
      total.isComplete &&= found.isComplete;
    }
    if (total.pages === 0) throw new FormatError("the code signature has no page hashes");
    return total;
  });
}

function checkDirectory(bytes: Uint8Array, directory: DataView, signatureOffset: number): PageHashes {
  const [hashes, slots, limit] = [directory.getUint32(16), directory.getUint32(28), directory.getUint32(32)];
  const [size, kind, shift] = [directory.getUint8(36), directory.getUint8(37), directory.getUint8(39)];
  const [digest, kept] = HASHES[kind] ?? [];
  if (!digest || kept !== size) throw new FormatError(`unknown hash type ${kind}`);
  const page = 2 ** shift;
  let wrong = 0;
  for (let i = 0; i < slots; i++) {
    const part = bytes.subarray(i * page, Math.min((i + 1) * page, limit));
    const wanted = new Uint8Array(directory.buffer, directory.byteOffset + hashes + i * size, size);
    if (!createHash(digest).update(part).digest().subarray(0, size).equals(wanted)) wrong++;
  }
  return { pages: slots, wrong, isComplete: limit === signatureOffset && slots === Math.ceil(limit / page) };
}
