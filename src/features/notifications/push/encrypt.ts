import { createCipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";

/** The keys of a browser's subscription (Push API), decoded. */
export interface BrowserKeys {
  /** Its public key: an uncompressed point on P-256. */
  p256dh: Buffer;
  auth: Buffer;
}

const SALT_BYTES = 16;
const TAG_BYTES = 16;
/** One record holds the message: push services take bodies of 4,096 bytes (RFC 8030, 7.2). */
const RECORD_BYTES = 4_096;
/** Marks the end of the last record. */
const LAST_RECORD = 2;

/**
 * Encrypts a message for one browser (RFC 8291, with the content coding aes128gcm of RFC 8188): the push service cannot
 * read it.
 * @param made the salt and the private key, for a test
 * @throws if the browser's key is not on the curve
 */
export function encrypt(
  text: string,
  { p256dh, auth }: BrowserKeys,
  made: { salt: Buffer; privateKey?: Buffer } = { salt: randomBytes(SALT_BYTES) },
): Buffer {
  const sender = createECDH("prime256v1");
  if (made.privateKey) sender.setPrivateKey(made.privateKey);
  else sender.generateKeys();
  const own = sender.getPublicKey();
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), p256dh, own]);
  const secret = hkdf(sender.computeSecret(p256dh), auth, info, 32);
  const key = hkdf(secret, made.salt, "Content-Encoding: aes128gcm\0", 16);
  const nonce = hkdf(secret, made.salt, "Content-Encoding: nonce\0", 12);
  const cipher = createCipheriv("aes-128-gcm", key, nonce, { authTagLength: TAG_BYTES });
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_BYTES);
  return Buffer.concat([
    ...[made.salt, size, Buffer.from([own.length]), own],
    ...[cipher.update(text, "utf8"), cipher.update(Buffer.from([LAST_RECORD])), cipher.final()],
    cipher.getAuthTag(),
  ]);
}

function hkdf(key: Buffer, salt: Buffer, info: Buffer | string, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", key, salt, info, bytes));
}
