import { HIDDEN } from "./hidden.ts";
import { FILE_NAME_MAX } from "./limits.ts";

/** What can be attached to a prompt. Its content decides, not its name. */
export type AttachmentType =
  | "image/png"
  | "image/jpeg"
  | "image/gif"
  | "image/webp"
  | "application/pdf"
  | "text/plain";

/** A file that is attached to a prompt. */
export interface Attachment {
  name: string;
  type: AttachmentType;
  /** The bytes, in base64. */
  data: string;
}

/** The same for readers, without its bytes. */
export interface AttachedFile {
  name: string;
  type: string;
  /** In bytes. */
  size: number;
}

export const ATTACHMENTS_ACCEPTED = "PNG, JPEG, GIF and WebP images, PDF, and text in UTF-8";

/** The type of a file by its first bytes, or as text; null for any other. */
export function attachmentType(bytes: Uint8Array): AttachmentType | null {
  const head = String.fromCharCode(...bytes.subarray(0, 12));
  const known = SIGNATURES.find(([signature]) => signature.test(head));
  if (known) return known[1];
  return isText(bytes) ? "text/plain" : null;
}

const SIGNATURES: readonly (readonly [signature: RegExp, type: AttachmentType])[] = [
  [/^\x89PNG\r\n\x1a\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[\s\S]{4}WEBP/, "image/webp"],
  [/^%PDF-/, "application/pdf"],
];

function isText(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The last segment of a path, as a name on one line. */
export function fileName(path: string): string {
  const name = path.split(/[/\\]/).at(-1)?.replace(HIDDEN, "").trim().slice(0, FILE_NAME_MAX).toWellFormed();
  return name || "file";
}

/** Arguments of one call of `fromCharCode`. */
const CHUNK = 8_192;

export function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

/** As a part of a prompt to the agent runtime. */
export function filePart({ name, type, data }: Attachment) {
  return { type: "file", mime: type, filename: name, url: `data:${type};base64,${data}` } as const;
}

/** A file in a message of the agent runtime; null without a name or a type. */
export function attachedFile(part: { mime: string; filename: string; url: string }): AttachedFile | null {
  const { mime, filename, url } = part;
  if (mime === "" || mime.length > FILE_NAME_MAX || filename === "") return null;
  const [head = "", data = ""] = url.split(",", 2);
  const size = head.endsWith(";base64") ? Math.floor((data.replace(/=+$/, "").length * 3) / 4) : data.length;
  return { name: fileName(filename), type: mime, size };
}

/** Such as `shot.png (image/png, 12 KiB)`. */
export function attachedText({ name, type, size }: AttachedFile): string {
  const shown = size < 1024 ? `${size} ${size === 1 ? "byte" : "bytes"}` : `${Math.round(size / 1024)} KiB`;
  return `${name} (${type}, ${shown})`;
}
