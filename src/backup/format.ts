import { VERSION } from "../contract/version.ts";

/** A backup that cannot be made or restored. The message is for the operator. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** The archive was changed, or is not complete. */
export class DamagedError extends BackupError {
  constructor(what: string) {
    super(`The archive is damaged: ${what}. Nothing was restored. Use another backup.`);
  }
}

/** The first part of an archive. */
export interface BackupHeader {
  format: typeof FORMAT;
  /** The version of svc that wrote it. */
  version: string;
  /** ISO time. */
  created_at: string;
  /** The time of the newest migration of its tables, in milliseconds since the epoch. */
  migration: number;
  /** Of the master key with which its secrets were sealed. */
  key_fingerprint: string;
  has_key: boolean;
}

/** The last part: every other part, in order. */
export interface Checksums {
  parts: { name: string; bytes: number; sha256: string }[];
}

/** Incremented by a change that older versions cannot read. */
export const FORMAT = 1;
export const HEADER_PART = "svc-backup.json";
export const CHECKSUMS_PART = "checksums.json";
export const SHAPE_PART = "database/shape.json";

/** Bytes of one tar entry: a part of any size is a sequence of these, and is held in memory one by one. */
export const CHUNK_BYTES = 4 * 1024 * 1024;
/** A million files of sites, or a hundred thousand repositories. */
export const SMALL_PART_MAX_BYTES = 128 * 1024 * 1024;

/** The name of a part: no part of a path begins with a dot, so it cannot leave a folder. */
const PART = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]*\/){0,4}[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
const PART_MAX = 200;

/** The entry of a chunk: the part's name and a number, from 1. */
export function entryName(part: string, index: number): string {
  return `${part}/${String(index).padStart(8, "0")}`;
}

/** @returns null for a name that svc never writes */
export function parseEntryName(name: string): { part: string; index: number } | null {
  const [, part = "", digits = ""] = /^(.+)\/(\d{8})$/.exec(name) ?? [];
  return part.length <= PART_MAX && PART.test(part) ? { part, index: Number(digits) } : null;
}

/** @throws BackupError */
export function parseHeader(bytes: Uint8Array): BackupHeader {
  const value = parseJson(bytes);
  const field = (name: string): unknown => Reflect.get(Object(value), name);
  const [format, version, created] = [field("format"), field("version"), field("created_at")];
  const [migration, fingerprint, hasKey] = [field("migration"), field("key_fingerprint"), field("has_key")];
  if (typeof format === "number" && format > FORMAT && typeof version === "string") {
    throw new BackupError(
      `The archive was written by svc ${clean(version)} in a newer format. Restore it with that version or a newer one (this is ${VERSION}).`,
    );
  }
  if (
    format !== FORMAT ||
    typeof version !== "string" ||
    typeof created !== "string" ||
    typeof migration !== "number" ||
    !Number.isSafeInteger(migration) ||
    typeof fingerprint !== "string" ||
    !/^[0-9a-f]{16}$/.test(fingerprint) ||
    typeof hasKey !== "boolean"
  ) {
    throw new DamagedError("its first part is not that of a backup of svc");
  }
  return {
    format,
    version: clean(version),
    created_at: clean(created),
    migration,
    key_fingerprint: fingerprint,
    has_key: hasKey,
  };
}

/** @throws DamagedError */
export function parseChecksums(bytes: Uint8Array): Checksums {
  const parts: unknown = Reflect.get(Object(parseJson(bytes)), "parts");
  if (!Array.isArray(parts)) throw new DamagedError("its list of checksums cannot be read");
  return {
    parts: parts.map((part: unknown) => {
      const field = (name: string): unknown => Reflect.get(Object(part), name);
      const [name, size, sha256] = [field("name"), field("bytes"), field("sha256")];
      if (typeof name !== "string" || typeof size !== "number" || typeof sha256 !== "string")
        throw new DamagedError("its list of checksums cannot be read");
      return { name, bytes: size, sha256 };
    }),
  };
}

/** @returns null when it is not JSON */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return null;
  }
}

/** Text of an archive for a terminal. */
function clean(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 64);
}
