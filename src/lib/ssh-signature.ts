import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { type Jwk, publicKeyOf, SshReader, sshString } from "./ssh-key.ts";

/** What an SSH signature says, apart from whose key it is. */
export type SshSignature =
  /** The text is no SSH signature. */
  | { state: "malformed" }
  /** A hardware key, a certificate, or another type that svc does not verify. */
  | { state: "unknown_key" }
  | { state: "invalid" }
  /** The public key that has signed, in the form of `ssh-keygen` without its comment. */
  | { state: "valid"; key: string };

const BEGIN = "-----BEGIN SSH SIGNATURE-----\n";
const END = "\n-----END SSH SIGNATURE-----";
const MAGIC = Buffer.from("SSHSIG");
const VERSION_MAX = 1;
const HASHES = new Set(["sha256", "sha512"]);

/**
 * Verifies an armored signature (OpenSSH's PROTOCOL.sshsig) over a message, as `ssh-keygen -Y check-novalidate` does: with
 * the key that it contains.
 * @param armored one character for each byte
 */
export function verifySshSignature(armored: string, namespace: string, message: Uint8Array): SshSignature {
  const blob = dearmor(armored);
  const parts = blob && partsOf(blob);
  if (!parts || parts.namespace !== namespace || !HASHES.has(parts.hash)) return { state: "malformed" };
  const key = publicKeyOf(parts.key);
  if (key === null) return { state: "unknown_key" };
  const digest = createHash(parts.hash).update(message).digest();
  const signed = Buffer.concat([
    MAGIC,
    // what is reserved is empty in what is signed
    ...[Buffer.from(namespace), Buffer.alloc(0), Buffer.from(parts.hash), digest].map(sshString),
  ]);
  if (!isSigned(key.jwk, signed, parts.signature)) return { state: "invalid" };
  return { state: "valid", key: `${key.type} ${parts.key.toString("base64")}` };
}

/** Characters that base64 may have between its own. */
const SPACE = /[ \t\n\v\f\r]/g;

function dearmor(text: string): Buffer | null {
  const end = text.indexOf(END);
  if (!text.startsWith(BEGIN) || end < BEGIN.length) return null;
  const encoded = text.slice(BEGIN.length, end).replace(SPACE, "");
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes : null;
}

interface Parts {
  key: Buffer;
  namespace: string;
  hash: string;
  signature: Buffer;
}

function partsOf(blob: Buffer): Parts | null {
  if (!blob.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  const reader = new SshReader(blob.subarray(MAGIC.length));
  const version = reader.number();
  const key = reader.bytes();
  const namespace = reader.bytes().toString("latin1");
  reader.bytes();
  const hash = reader.bytes().toString("latin1");
  const signature = reader.bytes();
  if (!reader.isAtEnd() || version > VERSION_MAX) return null;
  return { key, namespace, hash, signature };
}

/** Whether a signature (`string type, string blob`) is one of the key over the data. */
function isSigned(jwk: Jwk, data: Buffer, signature: Buffer): boolean {
  const reader = new SshReader(signature);
  const type = reader.bytes().toString("latin1");
  const blob = reader.bytes();
  if (!reader.isAtEnd()) return false;
  try {
    return isSignedBy(jwk, createPublicKey({ key: jwk, format: "jwk" }), data, type, blob);
  } catch {
    // what the library refuses: a point that is not on its curve, an RSA key with an exponent of 0
    return false;
  }
}

function isSignedBy(jwk: Jwk, key: KeyObject, data: Buffer, type: string, blob: Buffer): boolean {
  if (jwk.kty === "OKP") return type === "ssh-ed25519" && blob.length === 64 && verify(null, data, key, blob);
  if (jwk.kty === "RSA") {
    const hash = RSA_HASHES[type];
    const size = Buffer.from(jwk.n, "base64url").length;
    return hash !== undefined && blob.length <= size && verify(hash, data, key, padded(blob, size));
  }
  const curve = CURVES[jwk.crv];
  return curve !== undefined && type === curve.type && isSignedByCurve(curve, key, data, blob);
}

const RSA_HASHES: Readonly<Record<string, string>> = { "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" };

interface Curve {
  type: string;
  hash: string;
  /** Bytes of a coordinate. */
  size: number;
}

const CURVES: Readonly<Record<string, Curve>> = {
  "P-256": { type: "ecdsa-sha2-nistp256", hash: "sha256", size: 32 },
  "P-384": { type: "ecdsa-sha2-nistp384", hash: "sha384", size: 48 },
  "P-521": { type: "ecdsa-sha2-nistp521", hash: "sha512", size: 66 },
};

function isSignedByCurve({ hash, size }: Curve, key: KeyObject, data: Buffer, blob: Buffer): boolean {
  const reader = new SshReader(blob);
  const numbers = [reader.positive(), reader.positive()];
  if (!reader.isAtEnd() || numbers.some((number) => number === null || number.length > size)) return false;
  const signature = Buffer.concat(numbers.map((number) => padded(number ?? Buffer.alloc(0), size)));
  return verify(hash, data, { key, dsaEncoding: "ieee-p1363" }, signature);
}

function padded(bytes: Uint8Array, size: number): Buffer {
  return Buffer.concat([Buffer.alloc(size - bytes.length), bytes]);
}
