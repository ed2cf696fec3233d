import { SvcError } from "../../contract/errors.ts";
import { FILE_MAX_BYTES } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import { downloadHeaders } from "../../http/download.ts";
import { streamOf } from "../../http/stream.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { pathToWire } from "../projects/path.ts";
import { type ContentsQuery, findFile } from "./contents.ts";

/**
 * The bytes of a file at a ref, as a download that a browser does not execute. Applies backpressure to git, and stops it
 * when the client disconnects.
 * @throws payload_too_large past 100 MiB; not_found; what `resolveRef` throws.
 */
export async function downloadFile(deps: Deps, project: ProjectRow, query: ContentsQuery): Promise<Response> {
  const found = await findFile(deps, project, query);
  const { path } = pathToWire(found.path);
  if (found.entry.type === "symlink") {
    throw new SvcError(
      "not_found",
      `"${path}" is a symbolic link, not a file. Show its target with: svc repo cat --json`,
    );
  }
  if (found.entry.size > FILE_MAX_BYTES) {
    const mib = Math.ceil(found.entry.size / 1024 / 1024);
    throw new SvcError(
      "payload_too_large",
      `"${path}" has ${mib} MiB, more than the limit of ${FILE_MAX_BYTES / 1024 / 1024} MiB. Clone the repository to read it.`,
    );
  }
  const { repo, commit, entry } = found;
  const body = streamOf((onBytes, signal) => deps.git.readBlob(repo, { commit, entry, onBytes, signal }));
  return new Response(body, {
    headers: { ...downloadHeaders(path), "Content-Length": String(found.entry.size) },
  });
}
