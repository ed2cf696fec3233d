import type { Session } from "../../../../src/contract/session.ts";
import { open } from "../../../api/call.ts";
import { chunksOf } from "../../../api/events.ts";
import { imageType } from "../../change-requests/diff/files.ts";
import { dataUrl } from "../../change-requests/diff/images.tsx";
import { type At, own, queryOf } from "./queries.ts";

/** The beginning of a text that is shown. */
const TEXT_MAX_BYTES = 1024 * 1024;
/** A larger image is not shown. */
const IMAGE_MAX_BYTES = 10 * 1024 * 1024;
/** A larger file is not downloaded by the page, which would have it in memory. */
export const DOWNLOAD_MAX_BYTES = 100 * 1024 * 1024;
/** Where a file without text has a NUL byte: git looks at as much of it. */
const LOOKED_AT_BYTES = 8_000;

/** A file as the page shows it. `size` is that of the whole file. */
export type Content =
  | { kind: "text"; size: number; text: string; isCut: boolean }
  | { kind: "image"; size: number; url: string }
  | { kind: "binary"; size: number };

/** Loads as much of a file as is shown. @throws ApiFailure */
export async function loadContent(session: Session, at: At, signal: AbortSignal): Promise<Content> {
  const image = imageType(at.path);
  const max = image === null ? TEXT_MAX_BYTES : IMAGE_MAX_BYTES;
  const { size, bytes } = await read(session, at, max, signal);
  if (image !== null)
    return size > max
      ? { kind: "binary", size }
      : { kind: "image", size, url: await dataUrl(new Blob([bytes], { type: image })) };
  if (bytes.subarray(0, LOOKED_AT_BYTES).includes(0)) return { kind: "binary", size };
  // a character at the end may be cut
  const text = new TextDecoder().decode(bytes, { stream: size > bytes.length });
  return { kind: "text", size, text, isCut: size > bytes.length };
}

/** The whole file, to save. @throws ApiFailure */
export async function loadFile(session: Session, at: At): Promise<Blob> {
  const response = await request(session, at, {}, new AbortController().signal);
  return await response.blob();
}

async function read(session: Session, at: At, max: number, signal: AbortSignal) {
  const { body, headers } = await request(session, at, { Range: `bytes=0-${max - 1}` }, signal);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of body ? chunksOf(body) : []) {
    parts.push(new Uint8Array(chunk));
    length += chunk.length;
    if (length > max) break;
  }
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  const [, whole] = /\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
  return { size: whole === undefined ? bytes.length : Number(whole), bytes };
}

function request(session: Session, at: At, headers: Record<string, string>, signal: AbortSignal) {
  const address = `${own(session)}/contents?${queryOf(at)}`;
  return open(address, { Accept: "application/octet-stream", ...headers }, signal);
}
