import { isUtf8 } from "node:buffer";
import { SvcError } from "../../contract/errors.ts";
import { CONTENT_MAX_BYTES } from "../../contract/limits.ts";
import type { FileContents } from "../../contract/repository.ts";
import type { Deps } from "../../deps.ts";
import type { TreeEntry } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { pathToWire, readPath } from "../projects/path.ts";
import { type Resolved, resolveRef } from "./resolve.ts";

export interface ContentsQuery {
  ref?: string;
  path?: string;
  path_base64?: string;
}

/**
 * A file at a ref, or the target of a symbolic link, up to 1 MiB.
 * @throws validation_failed; not_found; what `resolveRef` throws.
 */
export async function readContents(
  deps: Deps,
  project: ProjectRow,
  query: ContentsQuery,
): Promise<FileContents> {
  const { repo, ref, commit, path, entry } = await findFile(deps, project, query);
  const parts: Uint8Array[] = [];
  let length = 0;
  await deps.git.readBlob(repo, {
    commit,
    entry,
    onBytes(bytes) {
      parts.push(bytes);
      length += bytes.length;
      return length < CONTENT_MAX_BYTES;
    },
  });
  const bytes = Buffer.concat(parts).subarray(0, CONTENT_MAX_BYTES);
  return {
    ref,
    commit_sha: commit,
    ...pathToWire(path),
    type: entry.type,
    mode: entry.mode,
    size: entry.size,
    sha: entry.id,
    ...asText(bytes, entry.size > bytes.length),
  };
}

/** A file or symbolic link of a commit. */
interface Found extends Resolved {
  path: Buffer;
  entry: FileEntry;
}

type FileEntry = TreeEntry & { type: "file" | "symlink"; size: number };

/** @throws validation_failed; not_found when the path is not a file or symbolic link; what `resolveRef` throws. */
export async function findFile(deps: Deps, project: ProjectRow, query: ContentsQuery): Promise<Found> {
  const path = readPath(query);
  if (path.length === 0)
    throw new SvcError(
      "validation_failed",
      "path is required: the path of a file from the root of the repository.",
    );
  const resolved = await resolveRef(deps, project, query.ref);
  const entry = await deps.git.findEntry(resolved.repo, resolved.commit, path);
  if (isFile(entry)) return { ...resolved, path, entry };
  throw notAFile(entry, pathToWire(path).path, resolved.ref);
}

function isFile(entry: TreeEntry | null): entry is FileEntry {
  return entry !== null && entry.size !== null && (entry.type === "file" || entry.type === "symlink");
}

function notAFile(entry: TreeEntry | null, path: string, ref: string): SvcError {
  if (!entry) return new SvcError("not_found", `"${ref}" has no file "${path}".`);
  const what =
    entry.type === "submodule"
      ? `a submodule, not a file: another repository, at commit ${entry.id}.`
      : "a directory, not a file. List it with: svc repo files";
  return new SvcError("not_found", `"${path}" is ${what}`);
}

/** As text if it is UTF-8, without a character that the limit cut; otherwise as base64. */
function asText(bytes: Buffer, truncated: boolean): Pick<FileContents, "encoding" | "content" | "truncated"> {
  const text = truncated ? bytes.subarray(0, endOfCharacters(bytes)) : bytes;
  return isUtf8(text)
    ? { encoding: "utf-8", content: text.toString("utf8"), truncated }
    : { encoding: "base64", content: bytes.toString("base64"), truncated };
}

/** The end of the last complete character. */
function endOfCharacters(bytes: Buffer): number {
  for (let back = 1; back < 4 && back <= bytes.length; back++) {
    const length = lengthOfCharacter(bytes[bytes.length - back] ?? 0);
    if (length !== null) return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The length in bytes of the UTF-8 character that starts with this byte; null for a continuation byte. */
function lengthOfCharacter(byte: number): number | null {
  if (byte >= 0x80 && byte < 0xc0) return null;
  if (byte >= 0xf0 && byte < 0xf5) return 4;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  return byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
}
