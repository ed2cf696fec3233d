import { afterAll, expect } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sshString } from "../../src/lib/ssh-key.ts";
import { verifySshSignature } from "../../src/lib/ssh-signature.ts";
import { needs } from "../helpers/needs.ts";
import { generator, SEED, share } from "../helpers/random.ts";
import { generateKey, SSH_KEYGEN, type SshKey, sign } from "../helpers/ssh-keys.ts";

const test = needs("ssh-keygen", SSH_KEYGEN);
const directory = mkdtempSync(join(tmpdir(), "svc-ssh-"));
afterAll(() => rmSync(directory, { recursive: true }));

const MESSAGE = "a message\nof two lines\n";
const TYPES: [type: string, bits: number | undefined][] = [
  ["ed25519", undefined],
  ["ecdsa", 256],
  ["ecdsa", 384],
  ["ecdsa", 521],
  ["rsa", 2048],
];

/** Whether `ssh-keygen -Y verify` accepts a signature by the key. */
function isAccepted({ key }: SshKey, armored: string, message = MESSAGE): boolean {
  const [allowed, signature] = [join(directory, "allowed"), join(directory, "signature")];
  writeFileSync(allowed, `me ${key}\n`);
  writeFileSync(signature, armored, "latin1");
  const args = ["-Y", "verify", "-f", allowed, "-I", "me", "-n", "git", "-s", signature];
  return Bun.spawnSync(["ssh-keygen", ...args], { stdin: Buffer.from(message) }).exitCode === 0;
}

function isVerified({ key }: SshKey, armored: string, message = MESSAGE): boolean {
  const verified = verifySshSignature(armored, "git", Buffer.from(message));
  return verified.state === "valid" && verified.key === key;
}

function armor(blob: Buffer): string {
  const lines = blob.toString("base64").match(/.{1,70}/g) ?? [];
  return ["-----BEGIN SSH SIGNATURE-----", ...lines, "-----END SSH SIGNATURE-----", ""].join("\n");
}

const blobOf = (armored: string) => Buffer.from(armored.split("\n").slice(1, -2).join(""), "base64");

test.each(TYPES)("a signature with %s %p is valid for its message and namespace only", (type, bits) => {
  const key = generateKey(directory, type, bits);
  for (const hash of ["sha256", "sha512"]) {
    const armored = sign(key, MESSAGE, "git", hash);
    expect(verifySshSignature(armored, "git", Buffer.from(MESSAGE))).toEqual({
      state: "valid",
      key: key.key,
    });
    expect(isAccepted(key, armored)).toBe(true);
    expect(verifySshSignature(armored, "git", Buffer.from(`${MESSAGE} `)).state).toBe("invalid");
    expect(verifySshSignature(armored, "file", Buffer.from(MESSAGE)).state).toBe("malformed");
  }
  const other = sign(key, MESSAGE, "file");
  expect([isVerified(key, other), isAccepted(key, other)]).toEqual([false, false]);
});

test.each(TYPES)("ssh-keygen agrees on changed signatures with %s %p", (type, bits) => {
  const random = generator(SEED);
  const key = generateKey(directory, type, bits);
  const armored = sign(key, MESSAGE);
  const blob = blobOf(armored);
  const changed: [what: string, armored: string][] = [
    ["another armor", armor(blob)],
    ["one line", `-----BEGIN SSH SIGNATURE-----\n${blob.toString("base64")}\n-----END SSH SIGNATURE-----`],
    ["Windows line ends", armored.replaceAll("\n", "\r\n")],
    ["text before", ` ${armored}`],
    ["text after", `${armored}more`],
    ["no end", armored.slice(0, -30)],
    ["a byte more", armor(Buffer.concat([blob, Buffer.of(0)]))],
    ["a byte less", armor(blob.subarray(0, -1))],
    [
      "version 0",
      armor(Buffer.from(blob.toString("latin1").replace("SSHSIG\0\0\0\x01", "SSHSIG\0\0\0\0"), "latin1")),
    ],
    [
      "version 2",
      armor(Buffer.from(blob.toString("latin1").replace("SSHSIG\0\0\0\x01", "SSHSIG\0\0\0\x02"), "latin1")),
    ],
    ["nothing", ""],
  ];
  for (let at = 0; at < share(12, 200); at++) {
    const place = random(blob.length);
    const bytes = Buffer.from(blob);
    bytes[place] = (bytes[place] ?? 0) ^ (1 << random(8));
    changed.push([`byte ${place}`, armor(bytes)]);
    const character = 30 + random(armored.length - 60);
    changed.push([
      `character ${character}`,
      `${armored.slice(0, character)}A${armored.slice(character + 1)}`,
    ]);
  }
  for (const [what, each] of changed)
    expect([what, isVerified(key, each)]).toEqual([what, isAccepted(key, each)]);
});

test("a key of another type is unknown, and text that is no signature malformed", () => {
  const key = generateKey(directory, "ed25519");
  const blob = blobOf(sign(key, MESSAGE)).toString("latin1");
  const of = (type: string) => armor(Buffer.from(blob.replace("ssh-ed25519", type), "latin1"));
  const state = (armored: string) => verifySshSignature(armored, "git", Buffer.from(MESSAGE)).state;
  expect(state(of("ssh-ed25518"))).toBe("unknown_key");
  expect(state("-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n")).toBe("malformed");
  expect(state("-----BEGIN SSH SIGNATURE-----")).toBe("malformed");
});

/** A signature whose key and number are given, of the message. */
function made(type: string, key: Buffer[], signature: Buffer): string {
  const strings = (...parts: (string | Buffer)[]) =>
    Buffer.concat(parts.map((part) => sshString(typeof part === "string" ? Buffer.from(part) : part)));
  const magic = Buffer.from("SSHSIG\0\0\0\x01", "latin1");
  const name = type === "ssh-rsa" ? "rsa-sha2-512" : type;
  const rest = strings(strings(type, ...key), "git", "", "sha512", strings(name, signature));
  return armor(Buffer.concat([magic, rest]));
}

const ONES = Buffer.alloc(256, 0x55);
const HOSTILE: [what: string, armored: string][] = [
  ["an exponent of 0", made("ssh-rsa", [Buffer.alloc(0), ONES], ONES)],
  ["an even exponent", made("ssh-rsa", [Buffer.of(2), ONES], ONES)],
  ["an exponent of 2,048 bits", made("ssh-rsa", [ONES, ONES], ONES)],
  ["a modulus of 8,192 bits", made("ssh-rsa", [Buffer.of(3), Buffer.alloc(1_024, 0x55)], ONES)],
  ["a modulus of 40,000 bits", made("ssh-rsa", [Buffer.of(3), Buffer.alloc(5_000, 0x55)], ONES)],
  [
    "a point that is not on the curve",
    made(
      "ecdsa-sha2-nistp256",
      [Buffer.from("nistp256"), Buffer.concat([Buffer.of(4), ONES.subarray(0, 64)])],
      ONES,
    ),
  ],
  ["a key of zeros", made("ssh-ed25519", [Buffer.alloc(32)], Buffer.alloc(64))],
  ["a length beyond the end", armor(Buffer.from("SSHSIG\0\0\0\x01\xff\xff\xff\xff", "latin1"))],
];

test.each(HOSTILE)("%s is refused, and nothing is thrown", (_, armored) => {
  const { state } = verifySshSignature(armored, "git", Buffer.from(MESSAGE));
  expect(["malformed", "unknown_key", "invalid"]).toContain(state);
});
