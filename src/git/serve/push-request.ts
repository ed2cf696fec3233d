import { SvcError } from "../../contract/errors.ts";
import type { RefUpdate } from "../mirror/update-refs.ts";
import type { RequestReader } from "./request-reader.ts";

/** The beginning of a `git-receive-pack` request; the pack follows. */
export interface PushHead {
  updates: RefUpdate[];
  capabilities: ReadonlySet<string>;
  /** The number of `git push -o` options. */
  options: number;
}

/** `git push --mirror` of a large repository changes a few thousand refs. */
export const UPDATES_MAX = 10_000;
/** All updates with the longest names, and the boundary of a shallow history. */
const COMMANDS_MAX_BYTES = 8 * 1024 * 1024;
const OPTIONS_MAX = 100;

/**
 * Reads the commands of a push (gitprotocol-pack, "Reference Update Request"). A client sends none to check only whether
 * it is authorized.
 * @throws SvcError `validation_failed`, and the errors of the reader
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
      throw new SvcError("payload_too_large", "The list of refs to push is too long: push it in parts.");
    const line = textOf(bytes);
    // a shallow clone sends the boundary of its history; the objects show whether ours is complete
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
  if (refs.size < updates.length)
    throw new SvcError("validation_failed", "A push must not name a ref twice.");
  return { updates, capabilities, options: capabilities.has("push-options") ? await readOptions(reader) : 0 };
}

/** Reads past the options, which svc does not support. */
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
    throw new SvcError("validation_failed", "The request is not a valid git request.");
  }
  return { ref, from: isZero(from) ? null : from, to: isZero(to) ? null : to };
}

function isZero(id: string): boolean {
  return /^0+$/.test(id);
}

/** Ref names must be UTF-8: others cannot be used in the API. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new SvcError("validation_failed", "The name of a ref is not UTF-8.");
  }
}
