import { SvcError } from "../../contract/errors.ts";
import type { RefUpdate } from "../mirror/update-refs.ts";
import type { RequestReader } from "./request-reader.ts";

/** What a client wants to push: the beginning of a `git-receive-pack` request; the pack comes after it. */
export interface PushHead {
  updates: RefUpdate[];
  capabilities: ReadonlySet<string>;
  /** How many `git push -o` options came along. */
  options: number;
}

/** `git push --mirror` of a large repository changes a few thousand refs. */
export const UPDATES_MAX = 10_000;
/** The longest names in all of them, and the ends of a shallow history beside. */
const COMMANDS_MAX_BYTES = 8 * 1024 * 1024;
const OPTIONS_MAX = 100;

/**
 * Reads the commands of a push (gitprotocol-pack, "Reference Update Request"). A client asks for nothing when it only
 * wants to know whether it may talk at all.
 * @throws SvcError `validation_failed`, and what the reader throws
 */
export async function readPushHead(reader: RequestReader): Promise<PushHead> {
  const updates: RefUpdate[] = [];
  let capabilities: ReadonlySet<string> = new Set();
  let size = 0;
  for (;;) {
    const bytes = await reader.packet();
    if (bytes === null) break;
    size += bytes.byteLength;
    if (size > COMMANDS_MAX_BYTES)
      throw new SvcError("payload_too_large", "The list of what to push is too long: push it in parts.");
    const line = textOf(bytes);
    // a shallow clone tells where its history ends; whether ours reaches beyond is seen from the objects
    if (SHALLOW.test(line)) continue;
    const zero = line.indexOf("\0");
    if (updates.length === 0 && zero >= 0)
      capabilities = new Set(
        line
          .slice(zero + 1)
          .trim()
          .split(" "),
      );
    updates.push(readUpdate(zero >= 0 ? line.slice(0, zero) : line));
    if (updates.length > UPDATES_MAX) {
      throw new SvcError(
        "validation_failed",
        `A push changes at most ${UPDATES_MAX} refs: push them in parts.`,
      );
    }
  }
  const refs = new Set(updates.map(({ ref }) => ref));
  if (refs.size < updates.length) throw new SvcError("validation_failed", "A push names a ref once.");
  return { updates, capabilities, options: capabilities.has("push-options") ? await readOptions(reader) : 0 };
}

/** Options are read because they are in the way; nothing here takes any. */
async function readOptions(reader: RequestReader): Promise<number> {
  for (let count = 0; ; count++) {
    if ((await reader.packet()) === null) return count;
    if (count === OPTIONS_MAX)
      throw new SvcError("validation_failed", `A push has at most ${OPTIONS_MAX} options.`);
  }
}

const SHALLOW = /^shallow [0-9a-f]{40}(?:[0-9a-f]{24})?\n?$/;
const UPDATE = /^([0-9a-f]{40}(?:[0-9a-f]{24})?) ([0-9a-f]{40}(?:[0-9a-f]{24})?) ([^\n\0]+)\n?$/;

function readUpdate(line: string): RefUpdate {
  const [, from, to, ref] = UPDATE.exec(line) ?? [];
  if (from === undefined || to === undefined || ref === undefined) {
    throw new SvcError("validation_failed", "This is not what a git client sends.");
  }
  return { ref, from: isZero(from) ? null : from, to: isZero(to) ? null : to };
}

function isZero(id: string): boolean {
  return /^0+$/.test(id);
}

/** Ref names that are not UTF-8 could not be shown or asked for anywhere else. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new SvcError("validation_failed", "The name of a ref is not UTF-8.");
  }
}
