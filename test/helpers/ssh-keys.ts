import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** For `needs("ssh-keygen", SSH_KEYGEN)`. */
export const SSH_KEYGEN = Bun.which("ssh-keygen") !== null;

export interface SshKey {
  /** The file of the private key. */
  file: string;
  /** `<type> <base64>`, without a comment. */
  key: string;
}

/** Generates a key of `ssh-keygen`'s type, such as `ed25519` or `rsa`. */
export function generateKey(directory: string, type: string, bits?: number): SshKey {
  const file = join(directory, `${type}-${bits ?? "default"}-${crypto.randomUUID()}`);
  run(["-q", "-t", type, ...(bits ? ["-b", String(bits)] : []), "-N", "", "-C", "a comment", "-f", file]);
  return { file, key: readFileSync(`${file}.pub`, "utf8").split(" ").slice(0, 2).join(" ") };
}

/** An armored signature by a key. */
export function sign(
  { file }: SshKey,
  message: string | Uint8Array,
  namespace = "git",
  hash = "sha512",
): string {
  const signed = `${file}-message`;
  writeFileSync(signed, message);
  run(["-q", "-Y", "sign", "-n", namespace, "-O", `hashalg=${hash}`, "-f", file, signed]);
  const armored = readFileSync(`${signed}.sig`, "latin1");
  rmSync(`${signed}.sig`);
  return armored;
}

/** A commit object with a signature in its header. */
export function withSignature(object: string, armored: string, header = "gpgsig"): string {
  const end = object.indexOf("\n\n") + 1;
  const lines = armored.trimEnd().split("\n").join("\n ");
  return `${object.slice(0, end)}${header} ${lines}\n${object.slice(end)}`;
}

function run(args: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["ssh-keygen", ...args]);
  if (exitCode !== 0) throw new Error(`ssh-keygen ${args.join(" ")}: ${stderr}`);
}
