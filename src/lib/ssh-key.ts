import { createHash } from "node:crypto";

/** Bits of a modulus: OpenSSH's minimum, and what is verified in about a millisecond, since a list has 200 commits. */
const RSA_BITS_MIN = 1_024;
const RSA_BITS_MAX = 8_192;

/** A public key as a JSON Web Key (RFC 7517), with the members of its kind. */
export type Jwk =
  | { kty: "OKP"; crv: "Ed25519"; x: string }
  | { kty: "EC"; crv: string; x: string; y: string }
  | { kty: "RSA"; n: string; e: string };

/** A public key in OpenSSH's wire format, of a type that svc verifies. */
export interface SshPublicKey {
  type: string;
  jwk: Jwk;
  /** Of the modulus of an RSA key; null for others. */
  rsaBits: number | null;
}

/** @returns null for another type, a certificate, a hardware key, or bytes that are no key */
export function publicKeyOf(blob: Buffer): SshPublicKey | null {
  const reader = new SshReader(blob);
  const type = reader.bytes().toString("latin1");
  const key = keyOf(type, reader);
  return reader.isAtEnd() ? key : null;
}

function keyOf(type: string, reader: SshReader): SshPublicKey | null {
  if (type === "ssh-ed25519") {
    const x = reader.bytes();
    return x.length === 32 ? { type, jwk: { kty: "OKP", crv: "Ed25519", x: url(x) }, rsaBits: null } : null;
  }
  if (type === "ssh-rsa") {
    const [e, n] = [reader.positive(), reader.positive()];
    const bits = n === null || n.length === 0 ? 0 : n.length * 8 - Math.clz32(n[0] ?? 0) + 24;
    if (e === null || n === null || bits < RSA_BITS_MIN || bits > RSA_BITS_MAX) return null;
    return { type, jwk: { kty: "RSA", n: url(n), e: url(e) }, rsaBits: bits };
  }
  const curve = CURVES[type];
  if (curve === undefined || reader.bytes().toString("latin1") !== curve.name) return null;
  const point = reader.bytes();
  const size = curve.size;
  if (point.length !== 1 + 2 * size || point[0] !== UNCOMPRESSED) return null;
  const [x, y] = [url(point.subarray(1, 1 + size)), url(point.subarray(1 + size))];
  return { type, jwk: { kty: "EC", crv: curve.crv, x, y }, rsaBits: null };
}

const UNCOMPRESSED = 4;
const CURVES: Readonly<Record<string, { name: string; crv: string; size: number }>> = {
  "ecdsa-sha2-nistp256": { name: "nistp256", crv: "P-256", size: 32 },
  "ecdsa-sha2-nistp384": { name: "nistp384", crv: "P-384", size: 48 },
  "ecdsa-sha2-nistp521": { name: "nistp521", crv: "P-521", size: 66 },
};

const url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");

/** `SHA256:…`, as `ssh-keygen -l` prints it. */
export function fingerprintOf(blob: Uint8Array): string {
  return `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;
}

/** Bytes with their length before them: `string` of RFC 4251. */
export function sshString(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Reads the types of RFC 4251. After a read beyond the end, everything is empty and the end is never reached. */
export class SshReader {
  #at = 0;
  #isShort = false;

  constructor(private readonly from: Buffer) {}

  number(): number {
    return this.#take(4)?.readUInt32BE() ?? 0;
  }

  /** A `string`. */
  bytes(): Buffer {
    return this.#take(this.number()) ?? Buffer.alloc(0);
  }

  /** An `mpint` without leading zeros; null for a negative one. */
  positive(): Buffer | null {
    const bytes = this.bytes();
    if ((bytes[0] ?? 0) >= 0x80) return null;
    const first = bytes.findIndex((byte) => byte !== 0);
    return first < 0 ? Buffer.alloc(0) : bytes.subarray(first);
  }

  isAtEnd(): boolean {
    return !this.#isShort && this.#at === this.from.length;
  }

  #take(length: number): Buffer | null {
    if (this.#isShort || this.#at + length > this.from.length) {
      this.#isShort = true;
      return null;
    }
    this.#at += length;
    return this.from.subarray(this.#at - length, this.#at);
  }
}
