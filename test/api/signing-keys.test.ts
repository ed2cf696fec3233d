import { afterAll, beforeAll, expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SIGNING_KEYS_MAX } from "../../src/contract/signing-key.ts";
import { sshString } from "../../src/lib/ssh-key.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { git } from "../helpers/remote.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";
import { generateKey, SSH_KEYGEN, sign, withSignature } from "../helpers/ssh-keys.ts";

const test = needs("a real Postgres and ssh-keygen", POSTGRES && SSH_KEYGEN);
const KEYS = "/v1/users/me/signing-keys";
const FIRST = "first@example.com";
let bench: ReviewBench;
let directory: string;
let member: string;
let stranger: string;

beforeAll(async () => {
  if (!POSTGRES || !SSH_KEYGEN) return;
  directory = mkdtempSync(join(tmpdir(), "svc-keys-"));
  bench = await startReviews();
  member = await bench.member("bob@example.com");
  stranger = await bench.member("cleo@example.com");
});
afterAll(async () => {
  if (!directory) return;
  rmSync(directory, { recursive: true });
  await bench.stop();
});

const add = (body: object, token = bench.api.token) => bench.api.call("POST", KEYS, { token, body });
const remove = (id: number, token = bench.api.token) => bench.api.call("DELETE", `${KEYS}/${id}`, { token });
const list = async (token = bench.api.token) => (await bench.api.call("GET", KEYS, { token })).body;

/** A public key that nobody has the private key of. */
const someKey = () =>
  `ssh-ed25519 ${Buffer.concat([Buffer.from("ssh-ed25519"), randomBytes(32)].map(sshString)).toString("base64")}`;

test("keys are added with the fingerprint of ssh-keygen, listed and removed, by their owner only", async () => {
  const { key, file } = generateKey(directory, "ed25519");
  const added = await add({ key: ` ${key}  Ada's laptop \n` });
  expect(added.status).toBe(201);
  const [, fingerprint] = Bun.spawnSync(["ssh-keygen", "-l", "-f", file]).stdout.toString().split(" ");
  const { id, created_at } = added.body;
  expect(added.body).toEqual({ id, key, fingerprint, title: "Ada's laptop", created_at });
  expect(await list()).toEqual([added.body]);
  expect(await list(member)).toEqual([]);
  expect((await add({ key, title: "again" })).body.code).toBe("validation_failed");
  expect((await remove(id, member)).status).toBe(404);
  expect((await remove(id)).status).toBe(200);
  expect((await remove(id)).status).toBe(404);
  expect(await list()).toEqual([]);
  const untitled = await add({ key });
  expect(untitled.body.title).toBe("ssh-ed25519");
  await remove(untitled.body.id);
});

const INVALID: [what: string, key: (good: string) => string][] = [
  ["a private key", () => "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----"],
  ["two keys", (good) => `${good}\n${good}`],
  ["another type than its name", (good) => good.replace("ssh-ed25519", "ssh-rsa")],
  ["a hardware key", (good) => good.replace("ssh-ed25519", "sk-ssh-ed25519@openssh.com")],
  [
    "a byte less",
    (good) => `ssh-ed25519 ${Buffer.from(good.slice(12), "base64").subarray(0, -1).toString("base64")}`,
  ],
  ["characters that are not base64", (good) => good.replace(/.$/, "!")],
  ["a name only", () => "ssh-ed25519"],
];

test.each(INVALID)("%s is not a signing key", async (_, key) => {
  const refused = await add({ key: key(someKey()) });
  expect([refused.status, refused.body.details?.[0]?.path]).toEqual([400, "key"]);
});

test("an RSA key of 1,024 bits is too short, one of 2,048 is not", async () => {
  expect((await add({ key: generateKey(directory, "rsa", 1024).key })).body.error).toContain("has 1024");
  const added = await add({ key: generateKey(directory, "rsa", 2048).key });
  expect(added.status).toBe(201);
  await remove(added.body.id);
});

test("a user has up to the limit of keys, also when they are added at once", async () => {
  const tries = await Promise.all(
    Array.from({ length: SIGNING_KEYS_MAX + 3 }, () => add({ key: someKey() }, stranger)),
  );
  expect(tries.filter(({ status }) => status === 201)).toHaveLength(SIGNING_KEYS_MAX);
  expect(await list(stranger)).toHaveLength(SIGNING_KEYS_MAX);
});

let branches = 0;

/** Commits to a new branch, signed by `armored` of the object. @returns what the API says of its signature */
async function verificationOf(committer: string, armored: (object: string) => string | null) {
  const { remote } = bench;
  const head = `signed-${++branches}`;
  const [tree, parent] = remote.git("rev-parse", "main^{tree}", "main").trim().split("\n");
  const who = (email: string) => `A <${email}> 1700000000 +0000`;
  const object = `tree ${tree}\nparent ${parent}\nauthor ${who("x@y.z")}\ncommitter ${who(committer)}\n\nSigned\n`;
  const signature = armored(object);
  const bytes = signature === null ? object : withSignature(object, signature);
  const args = ["-C", remote.path, "hash-object", "-t", "commit", "-w", "--stdin"];
  const commit = git(args, Buffer.from(bytes)).trim();
  remote.branch(head, commit);
  const read = async () => {
    const { body } = await bench.call("GET", `/commits?ref=${commit}&limit=1`);
    expect(body.commits[0].sha).toBe(commit);
    return body.commits[0].verification;
  };
  return { head, read };
}

test("a commit is verified by a key of its committer, until the key is removed", async () => {
  const key = generateKey(directory, "ecdsa", 256);
  const { head, read } = await verificationOf("First@Example.com", (object) => sign(key, object));
  const unknown = { verified: false, reason: "unknown_key", signer: null };
  expect(await read()).toEqual(unknown);
  // somebody else's key for the committer's commits
  const others = (await add({ key: key.key }, member)).body;
  expect(await read()).toEqual({ ...unknown, reason: "bad_email" });
  const { id, fingerprint } = (await add({ key: key.key })).body;
  const me = (await bench.api.call("GET", "/v1/accounts/me")).body;
  const signer = { user_id: me.user_id, name: me.name, fingerprint };
  expect(await read()).toEqual({ verified: true, reason: "valid", signer });
  // an address that is not verified
  await bench.sql`update users set email_proven = false where email = ${FIRST}`;
  expect(await read()).toEqual({ ...unknown, reason: "unverified_email" });
  await bench.sql`update users set email_proven = true where email = ${FIRST}`;

  bench.remote.commit(head, { signed: "1\n" });
  const { body: cr } = await bench.call("POST", "/change-requests", { body: { title: "t", head_ref: head } });
  const ofCr = async () =>
    (await bench.call("GET", `/change-requests/${cr.number}/commits`)).body.commits.map(
      ({ verification }: { verification: { reason: string } }) => verification.reason,
    );
  expect(await ofCr()).toEqual(["unsigned", "valid"]);
  await remove(id);
  expect(await ofCr()).toEqual(["unsigned", "bad_email"]);
  await remove(others.id, member);
  expect(await ofCr()).toEqual(["unsigned", "unknown_key"]);
  expect(await read()).toEqual(unknown);
});

test("the reason says what is wrong with a signature", async () => {
  const key = generateKey(directory, "ed25519");
  const { id } = (await add({ key: key.key })).body;
  const pgp = "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n";
  const rows: [reason: string, armored: (object: string) => string | null][] = [
    ["valid", (object) => sign(key, object)],
    ["unsigned", () => null],
    ["unknown_signature_type", () => pgp],
    ["malformed_signature", (object) => sign(key, object).slice(0, 60)],
    ["invalid", (object) => sign(key, `${object}!`)],
    ["unknown_key", (object) => sign(generateKey(directory, "ed25519"), object)],
  ];
  for (const [reason, armored] of rows) {
    const { read } = await verificationOf(FIRST, armored);
    expect(await read()).toMatchObject({ verified: reason === "valid", reason });
  }
  await remove(id);
});
