import { createHash } from "node:crypto";
import { FormatError, viewOf } from "./bytes.ts";
import { readMachO } from "./macho.ts";

const PAGE_BYTES = 4096;
/** Memory is mapped in pages of 16 KB on Apple's processors, of 4 KB on Intel's. */
const MAPPING_BYTES = { arm64: 16_384, x64: 4096 };
const [SUPER_BLOB, CODE_DIRECTORY] = [0xfade0cc0, 0xfade0c02];
const DIRECTORY_VERSION = 0x20400;
/** Ad hoc: without a certificate. Linker-signed: any other tool may sign it again. */
const FLAGS = 0x2 | 0x20000;
const DIRECTORY_BYTES = 88;
const HASH_BYTES = 32;
const SHA256 = 2;
const IS_MAIN_BINARY = 1;
/** A super blob with one index entry. */
const BLOB_HEADER_BYTES = 20;

/**
 * Replaces the signature of a Mach-O program by an ad hoc one, as a linker makes it: the SHA-256 of each page, without a
 * certificate, entitlements or the hardened runtime.
 * @param identifier the name of the program in its signature
 * @returns the signed program
 * @throws FormatError
 */
export function signAdHoc(program: Uint8Array, identifier: string): Uint8Array {
  const { machine, segments, signature } = readMachO(program);
  const text = segments.find(({ name }) => name === "__TEXT");
  const linkedit = segments.find(({ name }) => name === "__LINKEDIT");
  if (!text || !linkedit) throw new FormatError("a segment is missing: __TEXT or __LINKEDIT");
  const limit = signature.offset;
  if (limit % 16 !== 0 || linkedit.offset > limit)
    throw new FormatError("the signature is at an invalid place");
  const name = Buffer.from(`${identifier}\0`, "latin1");
  const pages = Math.ceil(limit / PAGE_BYTES);
  const hashes = DIRECTORY_BYTES + name.length;
  const size = BLOB_HEADER_BYTES + hashes + pages * HASH_BYTES;

  const signed = new Uint8Array(limit + Math.ceil(size / 16) * 16);
  signed.set(program.subarray(0, limit));
  const view = viewOf(signed);
  // the headers are on hashed pages, so they come first
  view.setUint32(signature.command + 12, signed.length - limit, true);
  const linked = signed.length - linkedit.offset;
  const mapped = Math.ceil(linked / MAPPING_BYTES[machine]) * MAPPING_BYTES[machine];
  view.setBigUint64(linkedit.command + 32, BigInt(mapped), true);
  view.setBigUint64(linkedit.command + 48, BigInt(linked), true);

  const blob = viewOf(signed.subarray(limit));
  for (const [i, word] of [SUPER_BLOB, size, 1, 0, BLOB_HEADER_BYTES].entries()) blob.setUint32(i * 4, word);
  const directory = viewOf(signed.subarray(limit + BLOB_HEADER_BYTES));
  const words = [
    ...[CODE_DIRECTORY, size - BLOB_HEADER_BYTES, DIRECTORY_VERSION, FLAGS, hashes, DIRECTORY_BYTES],
    // special slots, code slots, end of the code
    ...[0, pages, limit],
  ];
  for (const [i, word] of words.entries()) directory.setUint32(i * 4, word);
  directory.setUint8(36, HASH_BYTES);
  directory.setUint8(37, SHA256);
  directory.setUint8(39, Math.log2(PAGE_BYTES));
  directory.setBigUint64(64, BigInt(text.offset));
  directory.setBigUint64(72, BigInt(text.size));
  directory.setBigUint64(80, BigInt(IS_MAIN_BINARY));
  signed.set(name, limit + BLOB_HEADER_BYTES + DIRECTORY_BYTES);
  for (let i = 0; i < pages; i++) {
    const page = signed.subarray(i * PAGE_BYTES, Math.min((i + 1) * PAGE_BYTES, limit));
    const at = limit + BLOB_HEADER_BYTES + hashes + i * HASH_BYTES;
    signed.set(createHash("sha256").update(page).digest(), at);
  }
  return signed;
}
