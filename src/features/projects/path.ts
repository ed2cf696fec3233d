import { isUtf8 } from "node:buffer";
import { SvcError } from "../../contract/errors.ts";
import { PATH_MAX_BYTES } from "../../contract/limits.ts";
import { isPlainPath } from "../../git/read/file.ts";

/**
 * The path in a query as bytes, without one trailing slash; empty for the root. `path_base64` is for paths that are not
 * UTF-8.
 * @throws validation_failed for a path that is not valid in a repository, or leads out of it.
 */
export function readPath(query: { path?: string; path_base64?: string }): Buffer {
  if (query.path !== undefined && query.path_base64 !== undefined)
    throw refused("path and path_base64 cannot be used together. Use one of them.");
  const given =
    query.path_base64 === undefined
      ? Buffer.from(query.path ?? "")
      : Buffer.from(query.path_base64, "base64");
  const bytes = given.at(-1) === SLASH ? given.subarray(0, -1) : given;
  if (bytes.length > PATH_MAX_BYTES) throw refused(`path must be at most ${PATH_MAX_BYTES} bytes.`);
  if (given.length === 0 || isPlainPath(bytes.toString("latin1"))) return bytes;
  throw refused('path must be relative to the root of the repository, without "..", ".git" and empty parts.');
}

/** A path as it crosses the wire. */
export function pathToWire(bytes: Uint8Array): { path: string; path_base64?: string } {
  const path = Buffer.from(bytes);
  return {
    path: path.toString("utf8"),
    ...(isUtf8(path) ? {} : { path_base64: path.toString("base64") }),
  };
}

const SLASH = 47;

function refused(message: string): SvcError {
  return new SvcError("validation_failed", message, { details: [{ path: "path", message }] });
}
