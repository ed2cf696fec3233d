import type { SecretPatterns } from "./secrets.ts";
import { gitFailed, type WorkspaceGit } from "./workspace-git.ts";

/**
 * Searches git objects for secrets: the content of files, the names in folders, and the messages of commits.
 * @returns the objects that contain one
 * @throws SaveError if an object cannot be read
 */
export async function scanObjects(
  { git }: WorkspaceGit,
  ids: readonly string[],
  patterns: SecretPatterns,
  environment: Readonly<Record<string, string>>,
): Promise<Set<string>> {
  const found = new Set<string>();
  if (ids.length === 0) return found;
  const reader = createReader(patterns, (id) => found.add(id));
  const { code, errors } = await git(["cat-file", "--batch"], {
    stdin: Buffer.from(`${ids.join("\n")}\n`),
    environment,
    onOutput: reader.take,
  });
  if (code !== 0 || reader.count() !== ids.length)
    throw gitFailed("git could not read the objects to save", errors);
  return found;
}

/** Contents are searched in pieces of this size, which overlap by the length of the longest secret. */
const PIECE_BYTES = 1024 * 1024;

/** Parses the output of `git cat-file --batch`: `<id> <type> <size>\n<content>\n` for each object. */
function createReader(patterns: SecretPatterns, onFound: (id: string) => void) {
  let pending: Buffer = Buffer.alloc(0);
  let current: { id: string; left: number; isFound: boolean } | null = null;
  let tail: Buffer = Buffer.alloc(0);
  let objects = 0;

  return {
    count: () => objects,
    take(part: Uint8Array) {
      pending = pending.length === 0 ? Buffer.from(part) : Buffer.concat([pending, part]);
      while (current ? readContent(current) : readHead());
    },
  };

  function readHead(): boolean {
    const end = pending.indexOf(10);
    if (end < 0) return false;
    const [, id = "", size = ""] = /^([0-9a-f]+) \w+ (\d+)$/.exec(pending.toString("latin1", 0, end)) ?? [];
    pending = pending.subarray(end + 1);
    if (id === "") return true;
    current = { id, left: Number(size), isFound: false };
    tail = Buffer.alloc(0);
    return true;
  }

  function readContent(object: { id: string; left: number; isFound: boolean }): boolean {
    const whole = Math.min(object.left, PIECE_BYTES);
    if (pending.length < whole + (object.left === whole ? 1 : 0)) return false;
    const piece = Buffer.concat([tail, pending.subarray(0, whole)]);
    pending = pending.subarray(whole);
    object.left -= whole;
    if (!object.isFound && patterns.isIn(piece)) {
      object.isFound = true;
      onFound(object.id);
    }
    tail = piece.subarray(Math.max(0, piece.length - patterns.overlap));
    if (object.left > 0) return true;
    // the newline after the content
    pending = pending.subarray(1);
    objects++;
    current = null;
    return true;
  }
}
