import { SvcError } from "../../contract/errors.ts";
import { DIFF_MAX_BYTES, PATH_MAX_BYTES } from "../../contract/limits.ts";
import type { DiffEntry, DiffRequest } from "../git.ts";
import { blockHeader } from "./patch-header.ts";

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

/**
 * Parses a patch by its hunks, so that content that looks like a header is never read as one; counts lines into `files`
 * (in order, one `diff --git` block each, two where the kind changed) and passes the bytes on. With `gaps` a file may have
 * no block, and each block is identified by its first line.
 */
export class PatchReader {
  readonly #files: readonly DiffEntry[];
  readonly #kinds: readonly string[];
  readonly #onPatch: DiffRequest["onPatch"];
  readonly #gaps: boolean;
  #file = -1;
  /** `diff --git` blocks that remain of the current file. */
  #blocks = 0;
  /** Lines that remain of the current hunk on either side. */
  #before = 0;
  #after = 0;
  /** The beginning of a line, too short to be parsed yet. */
  #pending: Buffer = NOTHING;
  /** The current line was parsed; its rest has not arrived yet. */
  #isMidLine = false;
  /** The current file's patch so far. */
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  #isWanted = true;

  constructor(
    files: readonly DiffEntry[],
    kinds: readonly string[],
    onPatch: DiffRequest["onPatch"],
    gaps = false,
  ) {
    this.#files = files;
    this.#kinds = kinds;
    this.#onPatch = onPatch;
    this.#gaps = gaps;
  }

  /** @returns always true: the counts are needed even if the rest of the patch is not */
  take(chunk: Uint8Array): boolean | Promise<boolean> {
    const bytes =
      this.#pending.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([this.#pending, chunk]);
    const headBytes = this.#gaps ? WHOLE_HEAD_BYTES : HEAD_BYTES;
    const ready: Piece[] = [];
    let from = 0;
    let at = 0;
    while (at < bytes.length) {
      const lineEnd = bytes.indexOf(NEWLINE, at);
      const stop = lineEnd < 0 ? bytes.length : lineEnd + 1;
      if (!this.#isMidLine) {
        if (lineEnd < 0 && stop - at < headBytes) break;
        const entry = this.#entry;
        if (this.#isInHunk) this.#countLine(bytes[at]);
        else this.#readHeader(bytes.subarray(at, Math.min(stop, at + headBytes)));
        if (this.#entry !== entry) {
          this.#gather(bytes.subarray(from, at));
          this.#flush(entry, ready);
          from = at;
        }
      }
      this.#isMidLine = lineEnd < 0;
      at = stop;
    }
    this.#pending = Buffer.from(bytes.subarray(at));
    this.#gather(bytes.subarray(from, at));
    if (this.#gatheredBytes > DIFF_MAX_BYTES) this.#flush(this.#entry, ready);
    return ready.length === 0 || this.#handOn(ready);
  }

  /** @throws SvcError `merge_engine_failed` when the patch does not match the list of files */
  async end(): Promise<void> {
    const ready: Piece[] = [];
    if (this.#isInHunk) this.#countLine(this.#pending[0]);
    else this.#readHeader(this.#pending);
    this.#gather(this.#pending);
    this.#flush(this.#entry, ready);
    await this.#handOn(ready);
    const isWhole = this.#gaps || this.#file === this.#files.length - 1;
    if (this.#isInHunk || this.#blocks !== 0 || !isWhole) throw outOfStep();
  }

  /** The current file. */
  get #entry(): DiffEntry | undefined {
    return this.#files[this.#file];
  }

  get #isInHunk(): boolean {
    return this.#before !== 0 || this.#after !== 0;
  }

  #gather(bytes: Uint8Array): void {
    if (!this.#isWanted) return;
    this.#gathered.push(bytes);
    this.#gatheredBytes += bytes.length;
  }

  #flush(entry: DiffEntry | undefined, ready: Piece[]): void {
    if (this.#gatheredBytes === 0) return;
    const [first] = this.#gathered;
    if (!entry || !first) throw outOfStep();
    ready.push({ bytes: this.#gathered.length === 1 ? first : Buffer.concat(this.#gathered), entry });
    this.#gathered = [];
    this.#gatheredBytes = 0;
  }

  async #handOn(pieces: readonly Piece[]): Promise<boolean> {
    for (const { bytes, entry } of pieces)
      if (this.#isWanted) this.#isWanted = await this.#onPatch(bytes, entry);
    return true;
  }

  #readHeader(line: Buffer): void {
    const entry = this.#entry;
    const text = line.toString("latin1", 0, HEAD_BYTES);
    if (text.startsWith(BLOCK)) {
      this.#nextBlock(line);
      return;
    }
    const hunk = HUNK.exec(text);
    if (hunk) {
      this.#before = Number(hunk[1] ?? 1);
      this.#after = Number(hunk[2] ?? 1);
    } else if (entry && (text.startsWith("GIT binary patch") || text.startsWith("Binary files "))) {
      entry.binary = true;
      entry.additions = 0;
      entry.deletions = 0;
    }
  }

  #countLine(sign: number | undefined): void {
    const entry = this.#entry;
    if (!entry) throw outOfStep();
    if (sign === 0x2b) {
      this.#after--;
      if (!entry.binary) entry.additions++;
    } else if (sign === 0x2d) {
      this.#before--;
      if (!entry.binary) entry.deletions++;
    } else if (sign === 0x20) {
      this.#before--;
      this.#after--;
    } else if (sign !== 0x5c) {
      throw outOfStep();
    }
  }

  #nextBlock(line: Buffer): void {
    if (this.#blocks > 0) {
      this.#blocks--;
      return;
    }
    do this.#file++;
    while (this.#isLeftOut(this.#entry, line));
    if (this.#entry === undefined) throw outOfStep();
    this.#blocks = this.#kinds[this.#file] === "T" ? 1 : 0;
  }

  #isLeftOut(entry: DiffEntry | undefined, line: Buffer): boolean {
    return this.#gaps && entry !== undefined && !blockHeader(entry.path, entry.from).equals(line);
  }
}

function outOfStep(): SvcError {
  return new SvcError("merge_engine_failed", "Git's patch does not match its list of files.");
}
