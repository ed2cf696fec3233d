import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { ReleaseBuildError } from "./failure.ts";

/** The key that signs releases. */
export interface SigningKey {
  /** The public half, in PEM. */
  publicKey: string;
  /** Signs bytes; the signature in base64, on one line. */
  sign(bytes: Uint8Array): string;
}

/**
 * Reads the private key in the file that SVC_RELEASE_KEY names. Without that variable, it is a key of this user, which
 * is created once.
 * @throws ReleaseBuildError
 */
export function signingKey(environment: Readonly<Record<string, string | undefined>>): SigningKey {
  const named = environment["SVC_RELEASE_KEY"];
  const path = named || ownKeyFile(environment);
  if (!named && !existsSync(path)) createKey(path);
  const key = readKey(path);
  return {
    publicKey: createPublicKey(key).export({ type: "spki", format: "pem" }).toString(),
    sign: (bytes) => `${sign(null, bytes, key).toString("base64")}\n`,
  };
}

function ownKeyFile(environment: Readonly<Record<string, string | undefined>>): string {
  const home = environment["HOME"] || homedir();
  return join(environment["XDG_CONFIG_HOME"] || join(home, ".config"), "svc-release", "key.pem");
}

function createKey(path: string): void {
  const { privateKey } = generateKeyPairSync("ed25519");
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // "wx": never replaces a key
  writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
  process.stderr.write(
    `svc: created the release key ${path}. Keep a copy: programs of its releases update only to releases with this key.\n`,
  );
}

function readKey(path: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(path));
  } catch {
    throw new ReleaseBuildError(
      `Cannot read the release key ${path}: it must be an Ed25519 private key in PEM.`,
    );
  }
  if (key.asymmetricKeyType !== "ed25519")
    throw new ReleaseBuildError(
      `The release key ${path} is not an Ed25519 key, but ${key.asymmetricKeyType}.`,
    );
  return key;
}
