import { SvcError } from "../../contract/errors.ts";
import { DIFF_MAX_BYTES, PATH_MAX_BYTES } from "../../contract/limits.ts";
import type { DiffEntry, DiffRequest } from "../git.ts";
import { blockHeader } from "./patch-header.ts";

/**
 * Parses a patch by its hunks, so that content that looks like a header is never read as one; counts lines into `files`
 * (in order, one `diff --git` block each, two where the kind changed) and passes the bytes on. With `gaps` a file may have
 * no block, and each block is identified by its first line.
 */
export interface PatchReader {
  /** @returns always true: the counts are needed even if the rest of the patch is not */
  take(chunk: Uint8Array): boolean | Promise<boolean>;
  /** @throws SvcError `merge_engine_failed` when the patch does not match the list of files */
  end(): Promise<void>;
}

interface Piece {
  bytes: Uint8Array;
  entry: DiffEntry;
}

const NOTHING: Buffer = Buffer.alloc(0);
const NEWLINE = 10;
/** Longer than every line that is parsed: of `diff --git` lines only the first word is. */
const HEAD_BYTES = 128;
/** Longer than a `diff --git` line can be: twice the longest path, with four bytes for each of its bytes. */
const WHOLE_HEAD_BYTES = 8 * PATH_MAX_BYTES + HEAD_BYTES;
const BLOCK = "diff --git ";
const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

export function createPatchReader(
  files: readonly DiffEntry[],
  kinds: readonly string[],
  onPatch: DiffRequest["onPatch"],
  gaps = false,
): PatchReader {
  const headBytes = gaps ? WHOLE_HEAD_BYTES : HEAD_BYTES;
  let file = -1;
  /** `diff --git` blocks that remain of the current file. */
  let blocks = 0;
  /** Lines that remain of the current hunk on either side. */
  let before = 0;
  let after = 0;
  /** The beginning of a line, too short to be parsed yet. */
  let pending: Buffer = NOTHING;
  /** The current line was parsed; its rest has not arrived yet. */
  let midLine = false;
  /** The current file's patch so far. */
  let gathered: Uint8Array[] = [];
  let gatheredBytes = 0;
  let wanted = true;

  return { take, end };

  function take(chunk: Uint8Array): boolean | Promise<boolean> {
    const bytes =
      pending.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([pending, chunk]);
    const ready: Piece[] = [];
    let from = 0;
    let at = 0;
    while (at < bytes.length) {
      const lineEnd = bytes.indexOf(NEWLINE, at);
      const stop = lineEnd < 0 ? bytes.length : lineEnd + 1;
      if (!midLine) {
        if (lineEnd < 0 && stop - at < headBytes) break;
        if (!isHeader()) {
          countLine(bytes[at], files[file]);
        } else {
          const current = file;
          readHeader(bytes.subarray(at, Math.min(stop, at + headBytes)));
          if (file !== current) {
            gather(bytes.subarray(from, at));
            flush(current, ready);
            from = at;
          }
        }
      }
      midLine = lineEnd < 0;
      at = stop;
    }
    pending = Buffer.from(bytes.subarray(at));
    gather(bytes.subarray(from, at));
    if (gatheredBytes > DIFF_MAX_BYTES) flush(file, ready);
    return ready.length === 0 || handOn(ready);
  }

  function gather(bytes: Uint8Array): void {
    if (!wanted) return;
    gathered.push(bytes);
    gatheredBytes += bytes.length;
  }

  function flush(index: number, ready: Piece[]): void {
    if (gatheredBytes === 0) return;
    const [first] = gathered;
    const entry = files[index];
    if (!entry || !first) throw outOfStep();
    ready.push({ bytes: gathered.length === 1 ? first : Buffer.concat(gathered), entry });
    gathered = [];
    gatheredBytes = 0;
  }

  async function handOn(pieces: readonly Piece[]): Promise<boolean> {
    for (const piece of pieces) if (wanted) wanted = await onPatch(piece.bytes, piece.entry);
    return true;
  }

  function isHeader(): boolean {
    return before === 0 && after === 0;
  }

  function readHeader(line: Buffer): void {
    const entry = files[file];
    const text = line.toString("latin1", 0, HEAD_BYTES);
    if (text.startsWith(BLOCK)) {
      nextBlock(line);
      return;
    }
    const hunk = HUNK.exec(text);
    if (hunk) {
      before = Number(hunk[1] ?? 1);
      after = Number(hunk[2] ?? 1);
    } else if (entry && (text.startsWith("GIT binary patch") || text.startsWith("Binary files "))) {
      entry.binary = true;
      entry.additions = 0;
      entry.deletions = 0;
    }
  }

  function countLine(sign: number | undefined, entry: DiffEntry | undefined): void {
    if (!entry) throw outOfStep();
    if (sign === 0x2b) {
      after--;
      if (!entry.binary) entry.additions++;
    } else if (sign === 0x2d) {
      before--;
      if (!entry.binary) entry.deletions++;
    } else if (sign === 0x20) {
      before--;
      after--;
    } else if (sign !== 0x5c) {
      throw outOfStep();
    }
  }

  function nextBlock(line: Buffer): void {
    if (blocks > 0) {
      blocks--;
      return;
    }
    do file++;
    while (isLeftOut(files[file], line));
    if (files[file] === undefined) throw outOfStep();
    blocks = kinds[file] === "T" ? 1 : 0;
  }

  function isLeftOut(entry: DiffEntry | undefined, line: Buffer): boolean {
    return gaps && entry !== undefined && !blockHeader(entry.path).equals(line);
  }

  async function end(): Promise<void> {
    const ready: Piece[] = [];
    if (isHeader()) readHeader(pending);
    else countLine(pending[0], files[file]);
    gather(pending);
    flush(file, ready);
    await handOn(ready);
    const isWhole = gaps || file === files.length - 1;
    if (before !== 0 || after !== 0 || blocks !== 0 || !isWhole) throw outOfStep();
  }
}

function outOfStep(): SvcError {
  return new SvcError("merge_engine_failed", "Git's patch does not match its list of files.");
}
