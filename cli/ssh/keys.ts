import { createPrivateKey, createPublicKey, hkdfSync, randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { configPath } from "../config.ts";
import { replace } from "../config-write.ts";
import { CliError, systemCode } from "../failure.ts";
import type { System } from "../system.ts";

/** An Ed25519 key in OpenSSH's formats. */
export interface SshKey {
  /** The content of a private key's file. */
  privateKey: string;
  /** `ssh-ed25519 AAAA…` */
  publicKey: string;
}

/** The keys of this user for SSH into sandboxes. */
export interface OwnKeys {
  client: SshKey;
  /** The file of the client's private key. */
  identityFile: string;
  /** The key of the SSH server in a session's sandbox: each has its own, which it gets from svc on this machine. */
  hostKeyOf(sessionId: string): SshKey;
}

/** The folder of svc's files for SSH, beside its configuration. */
export const sshFolder = (system: Pick<System, "env" | "cwd">): string =>
  join(dirname(configPath(system)), "ssh");

const SEED_BYTES = 32;

/** Reads the keys, which it creates at the first use. @throws CliError `file` */
export async function ownKeys(system: Pick<System, "env" | "cwd">): Promise<OwnKeys> {
  const folder = sshFolder(system);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const seed = await ownSeed(join(folder, "seed"));
    const derive = (purpose: string) =>
      sshKeyOf(Buffer.from(hkdfSync("sha256", seed, "", `svc ssh ${purpose}`, SEED_BYTES)));
    const client = derive("client");
    const identityFile = join(folder, "id_ed25519");
    const there = await readFile(identityFile, "utf8").catch(() => null);
    if (there !== client.privateKey) await replace(identityFile, client.privateKey);
    return { client, identityFile, hostKeyOf: (sessionId) => derive(`host ${sessionId}`) };
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = systemCode(error) ?? "unknown error";
    throw new CliError("file", `The keys for SSH cannot be stored in ${folder} (${code}).`);
  }
}

/** The secret from which all keys follow. Of several that are created at once, the first stays. */
async function ownSeed(path: string): Promise<Buffer> {
  for (;;) {
    const found = await readFile(path).catch((error: unknown) => {
      if (systemCode(error) === "ENOENT") return null;
      throw error;
    });
    if (found?.length === SEED_BYTES) return found;
    if (found) throw new CliError("file", `${path} is damaged. Delete it: svc creates it again.`);
    const temporary = `${path}.${crypto.randomUUID()}.tmp`;
    try {
      await writeFile(temporary, randomBytes(SEED_BYTES), { flag: "wx", mode: 0o600 });
      await link(temporary, path).catch((error: unknown) => {
        if (systemCode(error) !== "EEXIST") throw error;
      });
    } finally {
      await rm(temporary, { force: true });
    }
  }
}

const TYPE = "ssh-ed25519";
/** RFC 8410: what precedes the seed of a private key in DER. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
/** The last bytes of a public key in DER. */
const PUBLIC_BYTES = 32;
/** OpenSSH pads what is not encrypted to 8 bytes (its PROTOCOL.key). */
const BLOCK = 8;

function sshKeyOf(seed: Buffer): SshKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const raw = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-PUBLIC_BYTES);
  const publicBlob = Buffer.concat([text(TYPE), text(raw)]);
  // two equal numbers, by which a wrong password is noticed: there is none
  const check = Buffer.alloc(8);
  const secret = Buffer.concat([check, publicBlob, text(Buffer.concat([seed, raw])), text("svc")]);
  const padding = Buffer.from(
    Array.from({ length: (BLOCK - (secret.length % BLOCK)) % BLOCK }, (_, at) => at + 1),
  );
  const file = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    ...[text("none"), text("none"), text(""), Buffer.from([0, 0, 0, 1])],
    ...[text(publicBlob), text(Buffer.concat([secret, padding]))],
  ]);
  const lines = file.toString("base64").match(/.{1,70}/g) ?? [];
  return {
    privateKey: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join("\n")}\n-----END OPENSSH PRIVATE KEY-----\n`,
    publicKey: `${TYPE} ${publicBlob.toString("base64")}`,
  };
}

/** A string of the SSH protocol: its length and its bytes. */
function text(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
