import { type SshSignature, verifySshSignature } from "../../lib/ssh-signature.ts";

/** How a commit is signed. */
export type CommitSignature =
  | SshSignature
  | { state: "unsigned" }
  /** Such as OpenPGP. */
  | { state: "unknown_signature_type" }
  /** The commit is too large to be read as a whole. */
  | { state: "unavailable" };

/**
 * Verifies the signature of a commit object with the key that it contains.
 * @param bytes the object, or only its beginning when `isWhole` is false
 */
export function commitSignature(id: string, bytes: Uint8Array, isWhole: boolean): CommitSignature {
  const object = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const { signature, payload } = split(object, id.length === SHA1_LENGTH ? "gpgsig " : "gpgsig-sha256 ");
  if (signature === "") return isWhole ? { state: "unsigned" } : { state: "unavailable" };
  if (!isWhole) return { state: "unavailable" };
  if (!signature.startsWith("-----BEGIN SSH SIGNATURE-----")) return { state: "unknown_signature_type" };
  return verifySshSignature(signature, "git", Buffer.from(payload, "latin1"));
}

const SHA1_LENGTH = 40;

/**
 * The signature in the headers of a commit, and what it is about: all but the signatures. Several headers are one signature,
 * as for git (`parse_buffer_signed_by_header`).
 */
function split(object: string, header: string): { signature: string; payload: string } {
  const blank = object.startsWith("\n") ? 0 : object.indexOf("\n\n") + 1;
  const end = blank === 0 && !object.startsWith("\n") ? object.length : blank;
  let [signature, payload] = ["", ""];
  let inside: "signature" | "other" | null = null;
  for (const line of object.slice(0, end).match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const continues = line.startsWith(" ");
    if (line.startsWith(header)) inside = "signature";
    else if (!continues) inside = line.startsWith("gpgsig") ? "other" : null;
    if (inside === "signature") signature += continues ? line.slice(1) : line.slice(header.length);
    else if (inside === null) payload += line;
  }
  return { signature, payload: payload + object.slice(end) };
}
