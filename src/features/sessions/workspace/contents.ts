import type { DaemonWorkspace } from "../../../contract/daemon.ts";
import { SvcError } from "../../../contract/errors.ts";
import { numberField } from "../../../contract/json.ts";
import type { Deps } from "../../../deps.ts";
import { downloadHeaders } from "../../../http/download.ts";
import { streamOf } from "../../../http/stream.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { pathToWire, readPath } from "../../projects/path.ts";
import { type PathQuery, readFromSandbox, unreadable } from "./read.ts";

/**
 * The bytes of a file of the workspace, or a part of them, as a download that a browser does not execute.
 * @param range the request's `Range`: `bytes=<first>-<last>`, or without the last; others get the whole file (RFC 9110, 14.2)
 * @throws validation_failed, and what `readFromSandbox` throws
 */
export async function readWorkspaceFile(
  deps: Deps,
  project: ProjectRow,
  name: string,
  { query, range }: { query: PathQuery; range: string | undefined },
): Promise<Response> {
  const path = readPath(query);
  if (path.length === 0)
    throw new SvcError("validation_failed", "path is required: a file, from the root of the workspace.");
  const { path: shown } = pathToWire(path);
  const [, from, to] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(range ?? "") ?? [];
  const isPart = from !== undefined && (!to || Number(to) >= Number(from));
  const wanted: DaemonWorkspace = {
    read: "file",
    path: path.toString("base64"),
    from: isPart ? Number(from) : 0,
    to: isPart && to ? Number(to) : null,
  };
  const stop = new AbortController();
  const { line, bytes } = await readFromSandbox(deps, project, name, { wanted, shown, signal: stop.signal });
  const [size, begin, end] = ["size", "from", "to"].map((key) => numberField(line, key));
  if (!isSpan(size, begin, end)) {
    stop.abort();
    throw unreadable(name);
  }
  const [first, length] = [begin ?? 0, (end ?? 0) - (begin ?? 0)];
  const body = streamOf((onBytes, signal) => {
    signal.addEventListener("abort", () => stop.abort());
    return exactly(bytes, length, onBytes);
  });
  const part = isPart && length < (size ?? 0);
  return new Response(body, {
    status: part ? 206 : 200,
    headers: {
      ...downloadHeaders(shown),
      "Cache-Control": "no-store",
      "Accept-Ranges": "bytes",
      "Content-Length": String(length),
      ...(part && { "Content-Range": `bytes ${first}-${first + length - 1}/${size}` }),
    },
  });
}

type Maybe = number | null | undefined;

function isSpan(size: Maybe, begin: Maybe, end: Maybe): boolean {
  return [size, begin, end].every(Number.isSafeInteger) && 0 <= Number(begin) && Number(begin) <= Number(end)
    ? Number(end) <= Number(size)
    : false;
}

/** Passes on so many bytes. @throws if there are fewer: the file has become shorter, and the response is cut off */
async function exactly(
  bytes: AsyncIterable<Uint8Array>,
  length: number,
  onBytes: (bytes: Uint8Array) => Promise<boolean>,
): Promise<void> {
  let rest = length;
  for await (const piece of bytes) {
    const some = piece.subarray(0, rest);
    rest -= some.length;
    if (some.length > 0 && !(await onBytes(some))) return;
    if (rest === 0) break;
  }
  if (rest > 0) throw new Error("a file of a workspace has become shorter while it was read");
}
