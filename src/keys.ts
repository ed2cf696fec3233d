import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The operations that use the master key, which is not exposed. */
export interface Keys {
  /** HMAC-SHA256 of a token, in hex. The database stores it instead of the token. */
  hashToken(token: string): string;
  /** Encrypts text for one owner, by the id of a project or person, and one purpose; only with both it can be decrypted. */
  seal(ownerId: string, purpose: string, text: string): string;
  /** @throws when the text was sealed with another key, owner or purpose, or was modified */
  open(ownerId: string, purpose: string, sealed: string): string;
  /** HMAC-SHA256 of text for one purpose, for signatures that are not stored. */
  mac(purpose: string, text: string): Buffer;
  /** Identifies the master key without revealing it. */
  fingerprint: string;
}

const FILE = "master.key";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Reads the master key of a data folder; creates it on the first start (mode 0600). */
export function loadMasterKey(dataDir: string): Buffer {
  const path = join(dataDir, FILE);
  if (!existsSync(path)) {
    writeFileSync(path, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600, flag: "wx", flush: true });
  }
  chmodSync(path, 0o600);
  const key = Buffer.from(readFileSync(path, "utf8").trim(), "hex");
  if (key.length !== 32)
    throw new Error(`The master key in the data folder (${FILE}) is damaged. Restore it from a backup.`);
  return key;
}

/** Derives the working keys (HKDF-SHA256, RFC 5869) from the master key, 32 bytes. */
export function createKeys(masterKey: Buffer): Keys {
  const derive = (info: string, salt = "") => Buffer.from(hkdfSync("sha256", masterKey, salt, info, 32));
  const tokenKey = derive("svc token hash");
  const ownerKey = (ownerId: string) => derive("svc project secrets", ownerId);
  return {
    hashToken: (token) => createHmac("sha256", tokenKey).update(token).digest("hex"),
    seal(ownerId, purpose, text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", ownerKey(ownerId), iv);
      cipher.setAAD(Buffer.from(`${ownerId}\0${purpose}`));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(ownerId, purpose, sealed) {
      const bytes = Buffer.from(sealed, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", ownerKey(ownerId), bytes.subarray(0, IV_BYTES));
      decipher.setAAD(Buffer.from(`${ownerId}\0${purpose}`));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return (
        decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8")
      );
    },
    mac: (purpose, text) =>
      createHmac("sha256", derive(`svc mac ${purpose}`))
        .update(text)
        .digest(),
    fingerprint: createHash("sha256").update(derive("svc fingerprint")).digest("hex").slice(0, 16),
  };
}
