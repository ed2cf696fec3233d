import type { DaemonNotRead, DaemonWorkspace } from "../contract/daemon.ts";
import { parseJson, textField } from "../contract/json.ts";
import { contextOf, type Daemon, request } from "./daemon.ts";

/** The first line: a folder or changed files, whose names may be long. */
const LINE_MAX_BYTES = 4 * 1024 * 1024;
/** Until the first line: git compares the files of the workspace. */
const LINE_MS = 70_000;
const ERRORS: readonly DaemonNotRead["error"][] = [
  "not_found",
  "not_a_folder",
  "not_a_file",
  "unreadable",
  "failed",
];

/** What a daemon reads of the workspace. */
export type WorkspaceAnswer =
  /** The value of the first line, and the bytes that follow it. */
  | { kind: "read"; line: unknown; bytes: AsyncIterable<Uint8Array> }
  | { kind: "refused"; error: DaemonNotRead["error"] }
  /** `unknown`: the daemon is of a version of svc without it. */
  | { kind: "unavailable" | "unknown" | "silent" };

/** Asks a daemon for something of the workspace. @param signal ends the reading */
export async function readWorkspace(
  daemon: Daemon,
  wanted: DaemonWorkspace,
  signal: AbortSignal,
): Promise<WorkspaceAnswer> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), LINE_MS);
  try {
    const path = "/svc/workspace";
    const response = await request(daemon, path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Svc-User-Context": contextOf(daemon, "POST", path) },
      body: JSON.stringify(wanted),
      signal: AbortSignal.any([signal, late.signal]),
      redirect: "manual",
      keepalive: false,
    });
    if (response.status !== 200 || !response.body) {
      await response.body?.cancel();
      const { status } = response;
      return { kind: status === 503 ? "unavailable" : status === 404 ? "unknown" : "silent" };
    }
    const { line, rest } = await readLine(response.body.getReader());
    const error = ERRORS.find((each) => each === textField(line, "error"));
    return error ? { kind: "refused", error } : { kind: "read", line, bytes: rest };
  } catch {
    return { kind: "silent" };
  } finally {
    clearTimeout(timer);
  }
}

/** @throws if the line is too long, or the response ends before it */
async function readLine(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">,
): Promise<{ line: unknown; rest: AsyncIterable<Uint8Array> }> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error("a daemon's answer has no line");
    const end = value.indexOf(NEWLINE);
    parts.push(end < 0 ? value : value.subarray(0, end));
    bytes += parts.at(-1)?.length ?? 0;
    if (bytes > LINE_MAX_BYTES) {
      await reader.cancel();
      throw new Error("a daemon's answer has too long a line");
    }
    if (end >= 0)
      return {
        line: parseJson(Buffer.concat(parts).toString()),
        rest: restOf(reader, value.subarray(end + 1)),
      };
  }
}

const NEWLINE = 10;

async function* restOf(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">,
  first: Uint8Array,
): AsyncIterable<Uint8Array> {
  try {
    if (first.length > 0) yield first;
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
